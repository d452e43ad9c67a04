const DAY_MS = 86_400_000;

/** The day of a time, UTC, as yyyy-mm-dd. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The last `count` days up to `today`, oldest first. */
export function daysUpTo(today: string, count: number): readonly string[] {
  const last = Date.parse(`${today}T00:00:00Z`);
  return Array.from({ length: count }, (_, index) => dayOf(last - (count - 1 - index) * DAY_MS));
}
