/** How texts are compared when one searches: without case and accents, and with the way back to the original. */

const MARKS = /\p{M}+/gu;
/** Small letters that no normal form takes apart, as people write them who do not have them on their keyboard. */
const PLAIN: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i', ς: 'σ' };
/** And signs of which keyboards, telephones and models each write another one. */
const SIGNS: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '‐': '-',
  '–': '-',
  '—': '-',
  '−': '-',
};
const SIMPLE: Readonly<Record<string, string>> = { ...PLAIN, ...SIGNS };
const LETTERS = new RegExp(`[${Object.keys(SIMPLE).join('')}]`, 'g');

/** `Crème BRÛLÉE` → `creme brulee`, `Straße` → `strasse`. */
export function folded(text: string): string {
  const small = text.normalize('NFKD').replace(MARKS, '').toLowerCase();
  return small.replace(LETTERS, (letter) => SIMPLE[letter] ?? letter);
}

/** The words of a search, folded; what stands in quotes is one of them, also while the second one is not written yet. */
export function termsOf(search: string): readonly string[] {
  const terms = [...search.matchAll(/["“”„]([^"“”„]*)(?:["“”„]|$)|(\S+)/g)].map(([, quoted, word]) =>
    folded(quoted ?? word ?? '').trim(),
  );
  return [...new Set(terms.filter((term) => term !== ''))];
}

/** A piece of a text, with the places in it that were searched for. */
export interface Snippet {
  readonly text: string;
  /** From and to, in order, without overlaps. */
  readonly marks: readonly (readonly [number, number])[];
}

const BEFORE = 40;
const LENGTH = 180;

/** The part of `text` around the first of the terms. */
export function snippetOf(text: string, terms: readonly string[]): Snippet {
  const { flat, places } = foldedWithPlaces(text);
  const hits = findAll(flat, terms);
  const first = places[hits[0]?.[0] ?? 0] ?? 0;
  const from = wordStart(text, Math.max(0, first - BEFORE));
  const to = Math.min(text.length, from + LENGTH);
  const head = from > 0 ? '…' : '';
  const shown = head + whitespaceAsBlanks(text.slice(from, to)) + (to < text.length ? '…' : '');
  const marks = hits
    .map(([start, end]): readonly [number, number] => [places[start] ?? 0, places[end] ?? text.length])
    .filter(([start, end]) => start >= from && end <= to)
    .map(([start, end]): readonly [number, number] => [start - from + head.length, end - from + head.length]);
  return { text: shown, marks };
}

/** The whole of a short text, with marks. */
export function marked(text: string, terms: readonly string[]): Snippet {
  const { flat, places } = foldedWithPlaces(text);
  const marks = findAll(flat, terms).map(([start, end]): readonly [number, number] => [
    places[start] ?? 0,
    places[end] ?? text.length,
  ]);
  return { text, marks };
}

/** Folds character by character: `places[i]` is where the i-th folded one comes from; one more for the end. */
function foldedWithPlaces(text: string): { readonly flat: string; readonly places: readonly number[] } {
  const places: number[] = [];
  let flat = '';
  let at = 0;
  for (const character of text) {
    const small = folded(character);
    for (let index = 0; index < small.length; index += 1) places.push(at);
    flat += small;
    at += character.length;
  }
  places.push(text.length);
  return { flat, places };
}

function findAll(flat: string, terms: readonly string[]): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  for (const term of terms) {
    for (let at = flat.indexOf(term); at !== -1; at = flat.indexOf(term, at + term.length)) {
      found.push([at, at + term.length]);
    }
  }
  found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const apart: [number, number][] = [];
  for (const [start, end] of found) {
    const last = apart.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else apart.push([start, end]);
  }
  return apart;
}

function wordStart(text: string, at: number): number {
  if (at === 0) return 0;
  const space = text.slice(at, at + BEFORE).search(/\s/);
  if (space !== -1) return at + space + 1;
  // Not between the halves of a pair of surrogates.
  return /[\udc00-\udfff]/.test(text[at] ?? '') ? at + 1 : at;
}

function whitespaceAsBlanks(text: string): string {
  return text.replace(/\s/g, ' ');
}
