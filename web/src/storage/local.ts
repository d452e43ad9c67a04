/** Small things that have to be there before the first picture: settings and drafts. */

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
