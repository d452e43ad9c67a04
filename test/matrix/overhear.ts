import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** The head of an answer of the gateway, as it came to a client. */
export interface AnswerHead {
  readonly status: number;
  readonly dropped: readonly string[];
}

interface HeadersMessage {
  readonly request: { readonly origin?: unknown };
  readonly response: { readonly statusCode: number; readonly headers: readonly (Buffer | string)[] };
}

/**
 * Listens in on answers that come to clients in this process, since most of them show no headers: Node's own fetch tells of
 * each (https://github.com/nodejs/undici/blob/main/docs/docs/api/DiagnosticsChannel.md), so the clients stay as they are.
 */
export class Overheard {
  #heads: AnswerHead[] = [];
  readonly #origin: string;
  readonly #listener = (message: unknown): void => {
    const { request, response } = message as HeadersMessage;
    if (String(request.origin) !== this.#origin) return;
    const fields = response.headers.map(String);
    const at = fields.findIndex((field, index) => index % 2 === 0 && field.toLowerCase() === 'x-sluice-dropped');
    const dropped = at === -1 ? [] : (fields[at + 1] ?? '').split(', ');
    this.#heads.push({ status: response.statusCode, dropped });
  };

  constructor(origin: string) {
    this.#origin = origin;
    subscribe('undici:request:headers', this.#listener);
  }

  /** Forgets what came so far. */
  start(): void {
    this.#heads = [];
  }

  get heads(): readonly AnswerHead[] {
    return this.#heads;
  }

  /** The fields that any answer since `start` named as dropped. */
  get dropped(): readonly string[] {
    return [...new Set(this.#heads.flatMap((head) => head.dropped))].sort();
  }

  close(): void {
    unsubscribe('undici:request:headers', this.#listener);
  }
}
