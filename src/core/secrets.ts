/** Shorter ones would mask ordinary words. */
const SHORTEST = 6;
/** What stands at the end of a text that was too long. */
const ELLIPSIS = '…';

/** The secrets Sluice knows, so that no text which leaves it can hold one. */
export class Secrets {
  #known: readonly string[] = [];

  /** Replaces the whole list. */
  use(secrets: Iterable<string | undefined>): void {
    const long = [...secrets].filter((secret): secret is string => secret !== undefined && secret.length >= SHORTEST);
    // Longest first: one secret may contain another.
    this.#known = [...new Set(long.flatMap(spellings))].sort((a, b) => b.length - a.length);
  }

  mask(text: string): string {
    let masked = text;
    for (const secret of this.#known) masked = masked.replaceAll(secret, '***');
    return masked.endsWith(ELLIPSIS) ? this.#maskEnd(masked.slice(0, -ELLIPSIS.length)) : masked;
  }

  /** A text that was cut may have been cut in the middle of a secret. */
  #maskEnd(text: string): string {
    for (const secret of this.#known) {
      for (let length = secret.length - 1; length >= SHORTEST; length -= 1) {
        if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}***${ELLIPSIS}`;
      }
    }
    return text + ELLIPSIS;
  }
}

/** A secret as it may stand in a text: as it is, within JSON, in an address. */
function spellings(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), ...(secret.isWellFormed() ? [encodeURIComponent(secret)] : [])];
}
