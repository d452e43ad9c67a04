import type { Size } from './lanes.ts';

/** The models that the scenarios ask for; a model's name says what the mock answers (see `models.ts`). */

/** A whole answer of 1 KB. */
export const JSON_1KB = 'bench-json-1024';
/** A whole answer of 2 MB. */
export const JSON_2MB = `bench-json-${2 * 1024 * 1024}`;
/** Chunks of a stream that comes as fast as it is read. */
export const FLAT_CHUNKS = 500;
/** That stream. */
export const FLAT = `bench-flat-${FLAT_CHUNKS}`;
/** Chunks a second of a paced stream. */
export const PER_SECOND = 20;
/** Long enough that nobody sees its end. */
export const ENDLESS = `bench-paced-${PER_SECOND}x2000`;
/** A second of chunks. */
export const SHORT = `bench-paced-${PER_SECOND}x20`;
/** Twelve seconds of next to nothing: what is held for a stream shows, not what a busy one costs. */
export const SLOW = { perSecond: 1, chunks: 12 };
/** The model of `SLOW`. */
export const SLOW_MODEL = `bench-paced-${SLOW.perSecond}x${SLOW.chunks}`;
/** One chunk, and nothing else for ten seconds. */
export const QUIET = 'bench-paced-0.1x100';

/** The paced stream of a round: as long as its size says. */
export function pacedModel(size: Size): string {
  return `bench-paced-${PER_SECOND}x${size.pacedChunks}`;
}

/** All of them; the mock offers them in its list. */
export function modelsFor(size: Size): readonly string[] {
  return [JSON_1KB, JSON_2MB, FLAT, pacedModel(size), SHORT, SLOW_MODEL, ENDLESS, QUIET];
}
