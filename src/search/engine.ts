import { isObject, objectsIn, textOf } from '../core/objects.ts';
import type { GuardedOptions } from '../outbound/guarded-fetch.ts';
import type { SearchTarget } from './config.ts';

/** One thing that was found. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  /** What the engine shows of it, plain text. */
  readonly snippet: string;
  /** The page's own text, when it was read. */
  readonly text?: string;
}

/** How an engine is asked, and how its answer is read. */
export interface Engine {
  readonly label: string;
  request(query: string, count: number, target: SearchTarget): EngineRequest;
  /** Rows of the engine's JSON as they come; the caller cleans them. Whatever is missing stays empty. */
  results(answer: unknown, target: SearchTarget): readonly SearchResult[];
}

/** Where to ask; with `json` by a POST, else by a GET. */
export interface EngineRequest extends Pick<GuardedOptions, 'headers' | 'json'> {
  readonly address: string;
}

/** The objects of an array somewhere in an answer. */
export function rowsAt(answer: unknown, ...keys: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  let found = answer;
  for (const key of keys) found = isObject(found) ? found[key] : undefined;
  return objectsIn(found);
}

/** A text of a row; empty where there is none. */
export function textAt(row: Readonly<Record<string, unknown>>, key: string): string {
  return textOf(row[key]);
}
