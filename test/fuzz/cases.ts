import { Random } from './random.ts';

/**
 * How many cases a property gets, and from which seed. `npm run test:fuzz` sets these (scripts/fuzz.ts); `npm test` runs a
 * short form with a seed that is always the same, so that a change is to blame for what fails in it.
 */
const seed = Number(process.env['FUZZ_SEED'] ?? 1);
const scale = Number(process.env['FUZZ_SCALE'] ?? 1);
/** One case to run again, alone. */
const only = process.env['FUZZ_CASE'];

/** The number of cases for what gets `count` of them in the short form. */
export function casesOf(count: number): number {
  return Math.max(1, Math.round(count * scale));
}

/** The values of one case; `name` tells apart what has cases of its own beside others. */
export function caseOf(index: number, name = ''): Random {
  let mixed = Math.imul(seed, 0x9e3779b1) + Math.imul(index, 0x85ebca6b);
  for (const letter of name) mixed = Math.imul(mixed, 31) + letter.charCodeAt(0);
  return new Random(mixed);
}

/** Which cases are to run, of so many. */
export function* casesBelow(count: number): Generator<number> {
  if (only !== undefined) yield Number(only);
  else for (let index = 0; index < count; index += 1) yield index;
}

/** A failure with what it takes to see it again. */
export function failureOf(index: number, thrown: unknown): Error {
  const message = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return new Error(`seed ${seed}, case ${index} (npm run test:fuzz -- --seed ${seed} --case ${index}): ${message}`, {
    cause: thrown,
  });
}

/** Checks a property for `count` cases in the short form, and for more in the long one. */
export async function property(count: number, check: (random: Random, index: number) => unknown): Promise<void> {
  for (const index of casesBelow(casesOf(count))) {
    try {
      const checked = check(caseOf(index), index);
      if (checked instanceof Promise) await checked;
    } catch (thrown) {
      throw failureOf(index, thrown);
    }
  }
}
