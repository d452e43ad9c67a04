import { createHash } from 'node:crypto';

/** How memory is searched: which words a text and a question have. */

/** Scripts that put no blanks between words. Their characters are indexed one by one, and a run of them is a phrase. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** A question may be a whole message; what is searched for is in its beginning. */
const MOST_TERMS = 32;
/** Shorter beginnings would find half of everything. */
const SHORTEST_BEGINNING = 3;

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

/** Whether the last word of a question may be the beginning of one: somebody may still be typing. */
export function goesOn(terms: readonly string[]): boolean {
  return (terms.at(-1)?.length ?? 0) >= SHORTEST_BEGINNING;
}
