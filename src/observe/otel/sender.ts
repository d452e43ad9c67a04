import type { Logger } from '../../core/logger.ts';

/** What a collector says when it is worth trying again (https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export interface SenderOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly log: Logger;
}

/** Posts JSON to a collector. Never throws; a collector that fails is complained about once, until it is back. */
export class Sender {
  readonly #options: SenderOptions;
  #isFailing = false;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** `again`: it may be taken later. `lost`: it never will. */
  async send(body: object): Promise<'sent' | 'again' | 'lost'> {
    const { url, headers, timeoutMs } = this.#options;
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
        this.#isFailing = false;
        return 'sent';
      }
      this.#complain(`status ${response.status}`);
      return RETRYABLE.has(response.status) ? 'again' : 'lost';
    } catch (error) {
      this.#complain(reasonOf(error));
      return 'again';
    }
  }

  #complain(why: string): void {
    if (!this.#isFailing) {
      const { origin } = new URL(this.#options.url);
      this.#options.log.warn({ collector: origin, why }, 'the OpenTelemetry collector does not take what is sent');
    }
    this.#isFailing = true;
  }
}

/** Why `fetch` failed: the system's code, else its own words (`unexpected redirect`); its error is a `TypeError` whatever it was. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: unknown; message?: unknown } };
  const [reason] = [cause?.code, cause?.message].filter((each) => typeof each === 'string' && each !== '');
  return String(reason ?? name);
}
