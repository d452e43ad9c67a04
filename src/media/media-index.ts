import { type MediaType, mediaTypeOf } from '../core/media-types.ts';
import { readMediaName, slugOf } from './names.ts';

/** One stored file, as far as a search looks at it. */
interface Entry {
  readonly name: string;
  readonly seconds: number;
  readonly mimeType: string;
  /** What terms are looked for in; undefined: the name as it is. */
  searched: string | undefined;
}

/** One file is looked for. */
export interface MediaQuery {
  /** Lower-cased and cleaned: see `searchTerms`. */
  readonly terms: readonly string[];
  /** How many terms must fit. */
  readonly min: number;
  /** Hits to pass over, the newest first. */
  readonly skip: number;
  /** Any hit: a new one each time for true, the same one for the same text. */
  readonly random?: true | string;
}

/** A place in the order of all entries: the newest first, then by name. */
export interface MediaPlace {
  readonly seconds: number;
  readonly name: string;
}

/** A page of files is looked for. */
export interface MediaPageQuery {
  /** As for a search; none: everything fits. */
  readonly terms: readonly string[];
  readonly kind?: MediaType['kind'];
  /** Whatever is behind this place, which need not be taken any more. */
  readonly after?: MediaPlace;
  readonly limit: number;
}

/** Characters of one entry that are looked through. Words beyond them, of content that came over and over, are not taken. */
const MOST_SEARCHED = 10_000;

/** Terms are separated by `+` or white space; each is cleaned like a file's name, so that both are spelled alike. */
export function searchTerms(text: string): readonly string[] {
  return text
    .split(/[+\s]+/)
    .map((term) => slugOf(term).toLowerCase())
    .filter((term) => term !== '');
}

/** The names of all stored media, in memory and in order: a hundred thousand of them are looked through in milliseconds. */
export class MediaIndex {
  /** The newest first, then by name. */
  readonly #entries: Entry[] = [];
  readonly #named = new Map<string, Entry>();
  readonly #byHash = new Map<string, string>();

  /** Many at once, in any order. */
  fill(files: Iterable<{ readonly name: string; readonly modified: number }>): void {
    for (const { name, modified } of files) {
      const entry = this.#note(name, modified);
      if (entry !== undefined) this.#entries.push(entry);
    }
    this.#entries.sort(inOrder);
  }

  add(name: string, modified: number): void {
    const entry = this.#note(name, modified);
    if (entry !== undefined) this.#entries.splice(this.#placeOf(entry), 0, entry);
  }

  /** A file is found by these words, too. Returns whether that was not so before. */
  addWords(name: string, words: string): boolean {
    const entry = this.#named.get(name);
    if (entry === undefined) return false;
    const { searched = name } = entry;
    const lowered = words.toLowerCase();
    if (searched.includes(lowered) || searched.length + lowered.length > MOST_SEARCHED) return false;
    // No term reaches over the end of a line.
    entry.searched = `${searched}\n${lowered}`;
    return true;
  }

  delete(name: string): void {
    const entry = this.#named.get(name);
    if (entry === undefined) return;
    this.#named.delete(name);
    this.#entries.splice(this.#placeOf(entry), 1);
    const { hash } = readMediaName(name);
    if (hash !== undefined && this.#byHash.get(hash) === name) this.#byHash.delete(hash);
  }

  /** The file with this content. */
  withHash(hash: string): string | undefined {
    return this.#byHash.get(hash);
  }

  get size(): number {
    return this.#entries.length;
  }

  /** The name of the hit that is wanted; undefined when there is none. */
  find({ terms, min, skip, random }: MediaQuery): string | undefined {
    if (terms.length === 0) return undefined;
    if (random === undefined) {
      let left = skip;
      for (const entry of this.#entries) {
        if (fits(entry, terms, min) && left-- === 0) return entry.name;
      }
      return undefined;
    }
    if (random === true) {
      const hits = this.#entries.filter((entry) => fits(entry, terms, min));
      return hits[Math.floor(Math.random() * hits.length)]?.name;
    }
    return this.#drawn(terms, min, random);
  }

  /** The newest `limit` hits behind a place. */
  page({ terms, kind, after, limit }: MediaPageQuery): readonly MediaPlace[] {
    const hits: MediaPlace[] = [];
    const from = after === undefined ? 0 : this.#placeOf(after);
    for (let at = from; at < this.#entries.length && hits.length < limit; at += 1) {
      const entry = this.#entries[at];
      if (entry === undefined || entry.name === after?.name) continue;
      if (kind !== undefined && !entry.mimeType.startsWith(kind)) continue;
      if (terms.length === 0 || fits(entry, terms, terms.length))
        hits.push({ seconds: entry.seconds, name: entry.name });
    }
    return hits;
  }

  /**
   * The hit with the highest number that seed and name give together: the same seed finds the same file as long as it is
   * there, whatever is stored or deleted beside it (rendezvous hashing).
   */
  #drawn(terms: readonly string[], min: number, seed: string): string | undefined {
    let best: string | undefined;
    let highest = -1;
    for (const entry of this.#entries) {
      if (!fits(entry, terms, min)) continue;
      const number = hashOf(`${seed}\n${entry.name}`);
      if (number > highest) [highest, best] = [number, entry.name];
    }
    return best;
  }

  #note(name: string, modified: number): Entry | undefined {
    const type = mediaTypeOf(name);
    if (type === undefined || this.#named.has(name)) return undefined;
    const { seconds = Math.floor(modified / 1_000), hash } = readMediaName(name);
    if (hash !== undefined) this.#byHash.set(hash, name);
    const lowered = name.toLowerCase();
    const searched = lowered === name ? undefined : lowered;
    const entry = { name, seconds, mimeType: type.mimeType, searched };
    this.#named.set(name, entry);
    return entry;
  }

  #placeOf(entry: MediaPlace): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#entries[middle];
      if (other !== undefined && inOrder(other, entry) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function inOrder(a: MediaPlace, b: MediaPlace): number {
  if (a.seconds !== b.seconds) return b.seconds - a.seconds;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** A term fits when the name, or what else the file is called, contains it; the first one also when the media type does. */
function fits({ name, searched = name, mimeType }: Entry, terms: readonly string[], min: number): boolean {
  let score = 0;
  for (let at = 0; at < terms.length; at += 1) {
    const term = terms[at] ?? '';
    if ((at === 0 && mimeType.includes(term)) || searched.includes(term)) score += 1;
    if (score >= min) return true;
    if (score + terms.length - at - 1 < min) return false;
  }
  return false;
}

/** FNV-1a, then a finalizer so that names which differ at the end differ everywhere. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
