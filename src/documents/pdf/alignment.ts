import type { TextItem } from '@firecrawl/pdf-inspector';

/** A part of a text: from `start` up to, not including, `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A change to a text: the range becomes `text`. */
export interface Edit extends Range {
  readonly text: string;
}

/**
 * How many letters further on a piece of the page is looked for, for each letter that it has itself, and at most: footnotes and
 * columns may stand in another order, but a short word is found anywhere.
 */
const REACH = 30;
const WINDOW = 3_000;

/** Marks that the library writes around text; their letters are none of the page's. */
const TAGS = /<\/?(?:u|s|b|i|sup|sub|br|em|strong)\s*\/?>/g;
const LETTER = /[\p{L}\p{N}]/u;

/**
 * Where each piece of text on the pages stands in the markdown that was made of them; undefined where it is not found. Only
 * letters and digits are compared, since everything else may have become markup.
 */
export function align(markdown: string, items: readonly Pick<TextItem, 'text'>[]): (Range | undefined)[] {
  const { letters, positions } = lettersOf(markdown);
  let cursor = 0;
  return items.map((item) => {
    const wanted = lettersOf(item.text).letters;
    if (wanted === '') return undefined;
    const window = letters.slice(cursor, cursor + Math.min(WINDOW, wanted.length * REACH) + wanted.length);
    const found = window.indexOf(wanted);
    if (found === -1) return undefined;
    const first = cursor + found;
    const last = first + wanted.length - 1;
    cursor = last + 1;
    return { start: positions[first] ?? 0, end: (positions[last] ?? 0) + 1 };
  });
}

/** The text with all changes made. Of changes that overlap, the first one stays. */
export function edit(text: string, edits: readonly Edit[]): string {
  let changed = '';
  let at = 0;
  for (const { start, end, text: replacement } of [...edits].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (start < at) continue;
    changed += text.slice(at, start) + replacement;
    at = end;
  }
  return changed + text.slice(at);
}

/** The letters and digits of a text, all that is compared. */
export function lettersIn(text: string): string {
  return lettersOf(text).letters;
}

/** Letters and digits of a text, and where each of their UTF-16 units stands. */
function lettersOf(text: string): { letters: string; positions: number[] } {
  const blank = text.replace(TAGS, (tag) => ' '.repeat(tag.length));
  const positions: number[] = [];
  let letters = '';
  let at = 0;
  for (const character of blank) {
    if (LETTER.test(character)) {
      letters += character;
      for (let unit = 0; unit < character.length; unit += 1) positions.push(at + unit);
    }
    at += character.length;
  }
  return { letters, positions };
}
