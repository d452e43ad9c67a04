import type { Logger } from '../../core/logger.ts';

/** What a collector says when it is worth trying again (https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export interface SenderOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly complaints: Complaints;
}

/** Says once that a collector fails in some way, whatever is sent there, and once that it does no longer. */
export class Complaints {
  readonly #log: Logger;
  /** Why each address fails. */
  readonly #failing = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  fails(url: string, why: string): void {
    if (this.#failing.has(url)) return;
    const isNews = !this.#isKnown(url, why);
    this.#failing.set(url, why);
    const collector = new URL(url).origin;
    if (isNews) this.#log.warn({ collector, why }, 'the OpenTelemetry collector does not take what is sent');
  }

  works(url: string): void {
    const why = this.#failing.get(url);
    if (why === undefined) return;
    this.#failing.delete(url);
    if (this.#isKnown(url, why)) return;
    this.#log.info({ collector: new URL(url).origin }, 'the OpenTelemetry collector takes what is sent again');
  }

  /** Whether something else of the same collector fails for the same reason. */
  #isKnown(url: string, why: string): boolean {
    const { origin } = new URL(url);
    return [...this.#failing].some(([other, known]) => known === why && new URL(other).origin === origin);
  }
}

/** Posts JSON to a collector. Never throws. */
export class Sender {
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** `again`: it may be taken later. `lost`: it never will. */
  async send(body: object): Promise<'sent' | 'again' | 'lost'> {
    const { url, headers, timeoutMs, complaints } = this.#options;
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        // The headers may hold a key, which is for this address alone.
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body?.cancel();
      if (response.ok) {
        complaints.works(url);
        return 'sent';
      }
      complaints.fails(url, `status ${response.status}`);
      return RETRYABLE.has(response.status) ? 'again' : 'lost';
    } catch (error) {
      complaints.fails(url, reasonOf(error));
      return 'again';
    }
  }
}

/** Why `fetch` failed: the system's code, else its own words (`unexpected redirect`); its error is a `TypeError` whatever it was. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: unknown; message?: unknown } };
  const [reason] = [cause?.code, cause?.message].filter((each) => typeof each === 'string' && each !== '');
  return String(reason ?? name);
}
