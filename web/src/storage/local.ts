/** Small things that have to be there before the first picture: settings and drafts. */

/** Undefined: there is none, or it cannot be read. */
export function readLocal<Shape>(name: string): Shape | undefined {
  try {
    const text = localStorage.getItem(`sluice.${name}`);
    return text === null ? undefined : (JSON.parse(text) as Shape);
  } catch {
    return undefined;
  }
}

/** Returns whether there was room for it. */
export function writeLocal(name: string, value: unknown): boolean {
  try {
    localStorage.setItem(`sluice.${name}`, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** Never throws, like all of these: a browser may keep nothing. */
export function removeLocal(name: string): void {
  try {
    localStorage.removeItem(`sluice.${name}`);
  } catch {
    // Where nothing may be kept, nothing was.
  }
}

/** The names that begin with `start`. */
export function localNames(start: string): readonly string[] {
  try {
    const names = Object.keys(localStorage).filter((key) => key.startsWith(`sluice.${start}`));
    return names.map((key) => key.slice('sluice.'.length));
  } catch {
    return [];
  }
}
