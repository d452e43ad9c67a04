import { createHash, randomInt } from 'node:crypto';
import type { Content } from './subject.ts';

/** Characters of the largest things. */
const LONGEST = 400_000;

/** Most things are small; some are so large that writing them takes a while. Words of small letters and digits. */
export function randomFiller(longest: number = LONGEST): string {
  const length = randomInt(10) === 0 ? randomInt(longest) : randomInt(2_000);
  return `${randomInt(2 ** 40).toString(36)} `.repeat(Math.ceil(length / 9));
}

/** `revision`: each write of the same thing has the next one. `longest`: see `randomFiller`. */
export function makeContent(revision: number, longest?: number): Content {
  const filler = randomFiller(longest);
  return { revision, filler, digest: digestOf(revision, filler) };
}

/** Whether it is what `makeContent` made: a piece of it, or a mixture of two, is not. */
export function isWhole({ revision, filler, digest }: Content): boolean {
  return digest === digestOf(revision, filler);
}

/** SHA-256 of the parts, joined by line breaks; hex. */
export function digestOf(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}
