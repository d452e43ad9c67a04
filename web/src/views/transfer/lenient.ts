/** Reading what other programs wrote: whatever is not as expected counts as absent. */

/** An object of which nothing is known. */
export type Loose = Readonly<Record<string, unknown>>;

/** Whether it is an object, and no list. */
export function isLoose(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object; an empty one where it is none. */
export function objectOf(value: unknown): Loose {
  return isLoose(value) ? value : {};
}

/** A list; an empty one where it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects in a list, without whatever else is in it. */
export function objectsOf(value: unknown): readonly Loose[] {
  return listOf(value).filter(isLoose);
}

/** A text that says something, else undefined. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** There is no date behind it: nothing could show it. */
const LATEST = 8.64e15;

/** Milliseconds, from seconds, milliseconds, microseconds or a date as text. */
export function timeIn(value: unknown): number | undefined {
  const number = typeof value === 'string' ? (/^\d+(\.\d+)?$/.test(value) ? Number(value) : Date.parse(value)) : value;
  if (typeof number !== 'number' || !Number.isFinite(number) || number <= 0) return undefined;
  // Seconds have ten digits until the year 2286.
  const milliseconds = number < 1e11 ? number * 1_000 : number > 1e14 ? number / 1_000 : number;
  return milliseconds > LATEST ? undefined : Math.round(milliseconds);
}
