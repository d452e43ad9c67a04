import { isSecretName } from '../core/secret-names.ts';
import type { Secrets } from '../core/secrets.ts';

/** Characters of one text, and of all texts and names together. */
const LONGEST_TEXT = 16 * 1024;
const LONGEST_WHOLE = 64 * 1024;
const DEEPEST = 40;

const HIDDEN = '[hidden]';

/** A `data:` URI, wherever it stands in a text. */
const DATA_URI = /(data:[\w.+-]+\/[\w.+-]+(?:;[\w=.+-]+)*,)([A-Za-z0-9+/=_%-]{64,})/gi;
/** What is meant for machines: nobody reads so much without a blank. */
const BASE64 = /^[A-Za-z0-9+/=_-]{2000,}$/;

/** A copy of a body that may be kept: short, and without secrets. `truncated`: something was left out for its size. */
export function redact(body: unknown, secrets: Secrets): { readonly body: unknown; readonly truncated: boolean } {
  const redactor = new Redactor(secrets);
  const copy = redactor.copy(body, 0);
  return { body: copy, truncated: redactor.truncated };
}

/** The same for a text. */
export function redactText(text: string, secrets: Secrets): { readonly text: string; readonly truncated: boolean } {
  const redactor = new Redactor(secrets);
  return { text: redactor.text(text, LONGEST_WHOLE), truncated: redactor.truncated };
}

class Redactor {
  truncated = false;
  readonly #secrets: Secrets;
  #left = LONGEST_WHOLE;

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  copy(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.text(value, LONGEST_TEXT);
    if (typeof value !== 'object' || value === null) {
      this.#left -= 8;
      return value;
    }
    if (depth >= DEEPEST) return this.#leaveOut();
    return Array.isArray(value) ? this.#list(value, depth) : this.#members(value, depth);
  }

  text(text: string, longest: number): string {
    const most = Math.max(0, Math.min(longest, this.#left));
    // Far more than is kept is looked at, since data: URIs become short.
    const shortened = shortenData(text.length > 64 * longest ? text.slice(0, 64 * longest) : text);
    const isCut = shortened.length > most || text.length > 64 * longest;
    this.#left -= Math.min(most, shortened.length) + 2;
    if (!isCut) return this.#secrets.mask(shortened);
    this.truncated = true;
    // With the sign of a cut, so that the beginning of a secret is masked as well.
    return this.#secrets.mask(`${shortened.slice(0, most)}…`);
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const copies: unknown[] = [];
    for (const member of list) {
      if (this.#left <= 0) {
        copies.push(this.#leaveOut());
        break;
      }
      copies.push(this.copy(member, depth + 1));
    }
    return copies;
  }

  #members(object: object, depth: number): Record<string, unknown> {
    // A member may be called __proto__.
    const copy: Record<string, unknown> = Object.create(null);
    for (const [name, value] of Object.entries(object)) {
      if (this.#left <= 0) {
        copy['…'] = this.#leaveOut();
        break;
      }
      const kept = this.text(name, 256);
      copy[kept] = isSecretName(name) && hidesSecret(value) ? HIDDEN : this.copy(value, depth + 1);
    }
    return copy;
  }

  #leaveOut(): string {
    this.truncated = true;
    return '[left out]';
  }
}

/** `max_tokens: 5` and `token: null` are none; neither is the schema of a tool that has a member of that name. */
function hidesSecret(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  return typeof value === 'object' && value !== null && !('type' in value);
}

function shortenData(text: string): string {
  if (BASE64.test(text)) return `[${text.length} characters of data]`;
  if (!/data:/i.test(text)) return text;
  return text.replaceAll(DATA_URI, (_, head: string, data: string) => `${head}[${data.length} characters]`);
}
