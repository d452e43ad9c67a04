import type { Size } from './lanes.ts';

/** The models that the scenarios ask for; a model's name says what the mock answers (see `models.ts`). */
export const JSON_1KB = 'bench-json-1024';
export const JSON_2MB = `bench-json-${2 * 1024 * 1024}`;
export const FLAT_CHUNKS = 500;
export const FLAT = `bench-flat-${FLAT_CHUNKS}`;
export const PER_SECOND = 20;
/** Long enough that nobody sees its end. */
export const ENDLESS = `bench-paced-${PER_SECOND}x2000`;
/** A second of chunks. */
export const SHORT = `bench-paced-${PER_SECOND}x20`;
/** Twelve seconds of next to nothing: what is held for a stream shows, not what a busy one costs. */
export const SLOW = { perSecond: 1, chunks: 12 };
export const SLOW_MODEL = `bench-paced-${SLOW.perSecond}x${SLOW.chunks}`;
/** One chunk, and nothing else for ten seconds. */
export const QUIET = 'bench-paced-0.1x100';

export function pacedModel(size: Size): string {
  return `bench-paced-${PER_SECOND}x${size.pacedChunks}`;
}

/** All of them; the mock offers them in its list. */
export function modelsFor(size: Size): readonly string[] {
  return [JSON_1KB, JSON_2MB, FLAT, pacedModel(size), SHORT, SLOW_MODEL, ENDLESS, QUIET];
}
