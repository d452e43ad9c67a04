/** A day in milliseconds. Days are those of UTC, all of the same length. */
export const DAY_MS = 86_400_000;

/** The last day that was asked for, counted from 1970: nearly always the same one. */
let last = Number.NaN;
let lastText = '';

/** The day of a time, UTC, as yyyy-mm-dd. */
export function dayOf(time: number): string {
  const day = Math.floor(time / DAY_MS);
  if (day !== last) {
    lastText = new Date(time).toISOString().slice(0, 10);
    last = day;
  }
  return lastText;
}

/** The last `count` days up to `today`, oldest first. */
export function daysUpTo(today: string, count: number): readonly string[] {
  const end = Date.parse(`${today}T00:00:00Z`);
  return Array.from({ length: count }, (_, index) => dayOf(end - (count - 1 - index) * DAY_MS));
}
