import type { Deps } from '../deps.ts';

/** What went before a question may have so many bytes: as much as some requests bring together. So may what it refers to. */
export function mostBytes(deps: Deps): number {
  return 4 * deps.config().limits.chatBodyBytes;
}

/** About how many bytes a value takes: its texts and names, whatever they are in, and a little for all else. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let size = 1;
  for (const [name, member] of Object.entries(value)) size += name.length + sizeOf(member);
  return size;
}
