/** Names come from clients, so there may be any number of them. */
const MOST = 1_000;
const LONGEST = 256;

const known = new Map<string, string>();

/**
 * One string for all equal ones, for names that are looked up again and again: V8 finds a string that it knows in any map at
 * once, and must look up each that has just been read in a table of its own first, for every map anew.
 */
export function knownName(name: string): string {
  const found = known.get(name);
  if (found !== undefined || name.length > LONGEST) return found ?? name;
  if (known.size >= MOST) known.clear();
  known.set(name, name);
  return name;
}
