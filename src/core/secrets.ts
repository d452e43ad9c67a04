import { SluiceError } from './errors.ts';

/** Shorter ones would mask ordinary words. */
const SHORTEST = 6;
/** Of shorter ones, base64 is so short that it may be part of a word. */
const SHORTEST_ENCODED = 16;
/** Text without such a run of letters holds no secret in base64. */
const ENCODED_RUN = /[\w+/-]{20}/;
/** What stands at the end of a text that was too long. */
const ELLIPSIS = '…';

/** The secrets Sluice knows, so that no text which leaves it can hold one. */
export class Secrets {
  #known: readonly string[] = [];
  /** The same in base64. */
  #encoded: readonly string[] = [];
  /** The same with characters percent-encoded; made for the first text that has some. */
  #escaped: readonly RegExp[] | undefined;

  /** Replaces the whole list. */
  use(secrets: Iterable<string | undefined>): void {
    const long = [...secrets].filter((secret): secret is string => secret !== undefined && secret.length >= SHORTEST);
    // Longest first: one secret may contain another.
    this.#known = longestFirst(long.flatMap(spellings));
    this.#encoded = longestFirst(long.filter((secret) => secret.length >= SHORTEST_ENCODED).flatMap(base64));
    this.#escaped = undefined;
  }

  mask(text: string): string {
    let masked = text;
    for (const secret of this.#known) masked = masked.replaceAll(secret, '***');
    if (masked.includes('%')) {
      this.#escaped ??= this.#known.map(escaped);
      for (const pattern of this.#escaped) masked = masked.replace(pattern, '***');
    }
    if (ENCODED_RUN.test(masked)) {
      for (const secret of this.#encoded) masked = masked.replaceAll(secret, '***');
    }
    return masked.endsWith(ELLIPSIS) ? this.#maskEnd(masked.slice(0, -ELLIPSIS.length)) : masked;
  }

  /** A text that was cut may have been cut in the middle of a secret. */
  #maskEnd(text: string): string {
    for (const secret of [...this.#known, ...this.#encoded]) {
      for (let length = secret.length - 1; length >= SHORTEST; length -= 1) {
        if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}***${ELLIPSIS}`;
      }
    }
    return text + ELLIPSIS;
  }
}

/** The same error without any of these secrets, which an upstream, or the client itself, may have quoted. */
export function withoutSecrets(error: SluiceError, secrets: Secrets): SluiceError {
  const { param, detail, quotas } = error.options;
  const message = secrets.mask(error.message);
  const masked = {
    ...(param === undefined ? {} : { param: secrets.mask(param) }),
    ...(quotas === undefined ? {} : { quotas: quotas.map((id) => secrets.mask(id)) }),
    ...(detail === undefined
      ? {}
      : {
          detail: detail.map((each) => ({
            ...each,
            loc: each.loc.map((key) => (typeof key === 'string' ? secrets.mask(key) : key)),
            message: secrets.mask(each.message),
          })),
        }),
  };
  if (message === error.message && Object.keys(masked).length === 0) return error;
  return new SluiceError(error.code, message, { ...error.options, ...masked });
}

function longestFirst(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort((a, b) => b.length - a.length);
}

/**
 * A secret as it stands in base64, both alphabets, wherever it began: what is before it (`user:`, `Bearer `) moves it by up to two
 * bytes. Letters that also depend on its neighbours are left out.
 */
function base64(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    const [start, end] = [Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6)];
    return [all.toString('base64').slice(start, end), all.toString('base64url').slice(start, end)];
  });
}

/** A secret any of whose characters are percent-encoded, once or again. */
function escaped(secret: string): RegExp {
  const characters = [...secret].map((character) => {
    const octets = [...Buffer.from(character)].map((byte) => {
      const hex = byte.toString(16).padStart(2, '0');
      return `%(?:25)*(?:${hex}|${hex.toUpperCase()})`;
    });
    return `(?:${RegExp.escape(character)}|${octets.join('')})`;
  });
  return new RegExp(characters.join(''), 'gu');
}

/** A secret as it may stand in a text: as it is, within JSON, in an address. */
function spellings(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), ...(secret.isWellFormed() ? [encodeURIComponent(secret)] : [])];
}
