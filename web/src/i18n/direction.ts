/** The blocks of Unicode whose letters are written from right to left: https://www.unicode.org/reports/tr9/#Bidirectional_Character_Types */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * The direction of a text by its first letter, as `dir="auto"` finds it; undefined where there is no letter. For fields: with `auto`
 * browsers look at every line again for each that is pasted, minutes for some thousand lines, and some megabytes take seconds a key.
 */
export function directionOf(text: string): 'ltr' | 'rtl' | undefined {
  const letter = /\p{L}/u.exec(text)?.[0];
  if (letter === undefined) return undefined;
  return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}
