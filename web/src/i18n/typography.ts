/** An ordinary space at which French never breaks a line: before a sign of two parts, and within quotation marks. */
const HELD_IN_FRENCH = / (?=[:;?!»])|(?<=«) /g;
const NO_BREAK_SPACE = '\u00a0';

/** A text as it is set in a language: the dictionaries are written with ordinary spaces, which can be seen. */
export function typeset(language: string, text: string): string {
  return language === 'fr' ? text.replace(HELD_IN_FRENCH, NO_BREAK_SPACE) : text;
}
