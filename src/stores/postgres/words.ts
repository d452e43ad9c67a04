import { goesOn, searchTerms, spaced, WORD } from '../words.ts';

/**
 * The words of a text as PostgreSQL's full-text search takes them: made here, since how a server tells words depends on its
 * locale. https://www.postgresql.org/docs/current/datatype-textsearch.html
 */

const ACCENTS = /[\u0300-\u036f]/g;
/** Words of a text by which it is found, and UTF-16 units of a word: a `tsvector` has no more room. */
const MOST_WORDS = 16_383;
const LONGEST = 100;
const MOST_BYTES = 500_000;
/** Places of a word that are kept, at most. */
const MOST_PLACES = 255;

/** For a column of type `tsvector`: words with their places, without case and accents. */
export function vectorOf(text: string): string {
  const places = new Map<string, number[]>();
  let bytes = 0;
  let place = 0;
  for (const word of wordsOf(text)) {
    place += 1;
    const present = places.get(word);
    if (present === undefined) {
      bytes += Buffer.byteLength(word);
      if (bytes > MOST_BYTES) break;
      places.set(word, [place]);
    } else if (present.length < MOST_PLACES) present.push(place);
    if (place === MOST_WORDS) break;
  }
  return Array.from(places, ([word, at]) => `'${word}':${at.join(',')}`).join(' ');
}

/** The distinct terms of a question, each of type `tsquery`. Without any there is nothing to search for. */
export function queriesOf(question: string): readonly string[] {
  const terms = searchTerms(question);
  const queries = terms.flatMap((term, at) => {
    const words = [...wordsOf(term)].map((word) => `'${word}'`);
    if (words.length === 0) return [];
    return `${words.join(' <-> ')}${goesOn(terms, at) ? ':*' : ''}`;
  });
  // Words that differ in case or accents only are one.
  return [...new Set(queries)];
}

/** Letters, digits and marks only, so that nothing in them means anything. */
function* wordsOf(text: string): Iterable<string> {
  for (const [word] of spaced(text).matchAll(WORD)) {
    const plain = word
      .toLowerCase()
      .normalize('NFD')
      .replace(ACCENTS, '')
      .normalize('NFC')
      .slice(0, LONGEST)
      .toWellFormed();
    if (plain !== '') yield plain;
  }
}
