/** Answers nest a few levels deep, and what tools take some more. `JSON.stringify` gives up at some thousands, depending on who calls. */
export const DEEPEST_JSON = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Whether lists and objects of JSON text nest deeper than `DEEPEST_JSON`: it could be read, but not be written again. */
export function nestsTooDeep(text: string): boolean {
  // Each level opens and closes.
  if (text.length <= 2 * DEEPEST_JSON) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        if (at === -1) return false;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth += 1;
        if (depth > DEEPEST_JSON) return true;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1;
        break;
    }
  }
  return false;
}

/** Where the quote stands that ends the string begun at `start`; -1 where there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at);
    if (at === -1) return -1;
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
}
