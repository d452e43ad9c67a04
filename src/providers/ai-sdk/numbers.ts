import { isObject, membersOf } from '../../core/objects.ts';

/** Counts as numbers, also where some servers write them as text. */
export function numbers(counts: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(membersOf(counts)).map(([name, value]) => [name, numeric(value)]));
}

function numeric(value: unknown): unknown {
  if (isObject(value)) return numbers(value);
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
}
