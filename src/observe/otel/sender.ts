import type { Logger } from '../../core/logger.ts';
import { membersOf, parseObject, textOf } from '../../core/objects.ts';
import { oneLine } from '../../core/one-line.ts';

/** Bytes of an answer that are looked at, and characters of a collector's own words that are told. */
const ANSWER_BYTES = 64 * 1024;
const LONGEST_WORDS = 200;

/** What a collector says when it is worth trying again (https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

interface SenderOptions {
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
      if (response.ok) {
        const why = rejectedBy(await beginning(response));
        if (why === undefined) complaints.works(url);
        else complaints.fails(url, why);
        // What was rejected must not be sent again.
        return 'sent';
      }
      await response.body?.cancel();
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

/** The beginning of an answer; one that breaks off has said enough with its status. */
async function beginning(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of response.body ?? []) {
      pieces.push(piece);
      size += piece.length;
      if (size >= ANSWER_BYTES) break;
    }
  } catch {
    // It took what was sent.
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** What a collector rejects of that which it takes (https://opentelemetry.io/docs/specs/otlp/#partial-success-1). */
function rejectedBy(answer: string): string | undefined {
  const { rejectedSpans, rejectedDataPoints, errorMessage } = membersOf(parseObject(answer)?.['partialSuccess']);
  const said = oneLine(textOf(errorMessage)).slice(0, LONGEST_WORDS);
  // 64 bits wide, and so texts in JSON.
  for (const [what, count] of Object.entries({ spans: rejectedSpans, points: rejectedDataPoints })) {
    if (Number(count ?? 0) > 0) return `${what} rejected: ${said === '' ? 'without a reason' : said}`;
  }
  return undefined;
}
