/** So many digits are exact in a number. */
const MOST_DIGITS = 15;

/**
 * The number that decimal digits say, and nothing else does; undefined where there is anything else. `Number` calls the runtime
 * for each text that has just been read.
 */
export function countOf(text: string): number | undefined {
  if (text.length === 0 || text.length > MOST_DIGITS) return undefined;
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    count = count * 10 + digit;
  }
  return count;
}
