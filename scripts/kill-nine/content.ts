import { createHash, randomInt } from 'node:crypto';
import type { Content } from './subject.ts';

/** Most things are small; some are so large that writing them takes a while. */
export function randomFiller(): string {
  const length = randomInt(10) === 0 ? randomInt(400_000) : randomInt(2_000);
  return `${randomInt(2 ** 40).toString(36)} `.repeat(Math.ceil(length / 9));
}

export function makeContent(revision: number): Content {
  const filler = randomFiller();
  return { revision, filler, digest: digestOf(revision, filler) };
}

export function isWhole({ revision, filler, digest }: Content): boolean {
  return digest === digestOf(revision, filler);
}

export function digestOf(...parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}
