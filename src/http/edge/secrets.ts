/** Shorter ones would mask ordinary words. */
const SHORTEST = 6;

/** The secrets Sluice knows, so that no text which leaves it can hold one. */
export class Secrets {
  #known: readonly string[] = [];

  /** Replaces the whole list. */
  use(secrets: Iterable<string | undefined>): void {
    const long = [...secrets].filter((secret): secret is string => secret !== undefined && secret.length >= SHORTEST);
    // Longest first: one secret may contain another.
    this.#known = [...new Set(long)].sort((a, b) => b.length - a.length);
  }

  mask(text: string): string {
    let masked = text;
    for (const secret of this.#known) masked = masked.replaceAll(secret, '***');
    return masked;
  }
}
