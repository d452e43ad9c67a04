import { createHash } from 'node:crypto';

/** How memory is searched: which words a text and a question have. */

/** Scripts that put no blanks between words. Their characters are indexed one by one, and a run of them is a phrase. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
/** A letter or digit, and whatever letters, digits and marks follow it. Global: for `matchAll`, which leaves its `lastIndex` alone. */
export const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** A question may be a whole message; what is searched for is in its beginning. */
const MOST_TERMS = 32;
/** Shorter beginnings would find half of everything. */
const SHORTEST_BEGINNING = 3;
/** Korean words have their particles at the end (서울, 서울에, 서울에서), and mostly two characters before them. */
const KOREAN = /^\p{Script=Hangul}{2,}$/u;

/** The text with blanks around each character of a script without blanks. */
export function spaced(text: string): string {
  return text.replace(UNSPACED, ' $& ');
}

/** One word of the index for any user id. Two ids that share it would still be told apart by the id itself. */
export function ownerWord(userId: string): string {
  return `u${createHash('sha256').update(userId).digest('hex').slice(0, 32)}`;
}

/** The distinct words of a question, in their order. */
export function searchTerms(text: string): readonly string[] {
  const terms = new Set<string>();
  for (const [word] of text.matchAll(WORD)) {
    terms.add(word);
    if (terms.size === MOST_TERMS) break;
  }
  return [...terms];
}

/** Whether a word of a question may be the beginning of one: the last one, which somebody may still be typing, or a Korean one. */
export function goesOn(terms: readonly string[], at = terms.length - 1): boolean {
  const term = terms[at] ?? '';
  return KOREAN.test(term) || (at === terms.length - 1 && term.length >= SHORTEST_BEGINNING);
}
