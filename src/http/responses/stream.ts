import type { Batch, Chunk, Searched, Usage } from '../../core/chunk.ts';
import type { ErrorInfo } from '../../core/errors.ts';
import type { Encoder } from '../../core/stream.ts';
import { byModelName } from './callables.ts';
import type { KeptItem } from './items.ts';
import { Output } from './output.ts';
import { errorOf, type ResponseHead, responseOf, type State } from './response.ts';
import type { Json } from './wire.ts';

/** What becomes known of an answer after its head, noted by whoever drives the stream before it hands over the chunk concerned. */
export interface Ending {
  /** Seconds since 1970. */
  completedAt?: number;
  /** Whether it was kept as asked; absent: as asked. */
  isStored?: boolean;
  /** Who answered, where the answer was begun before that was known. */
  model?: string;
  provider?: string;
  /** What the answer was served as, where what was asked for got lost. */
  tier?: string;
  search?: Searched;
}

/** Absent ones: every event is sent, and nothing further becomes known of the answer. */
export interface StreamOptions {
  /** Events up to this number are left out. */
  readonly startingAfter?: number;
  readonly ending?: Ending;
}

/** Chunks → the typed, numbered events of the Responses API; and the whole answer, as far as it has come. */
export class ResponsesStream implements Encoder {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly #head: ResponseHead;
  readonly #ending: Ending;
  readonly #startingAfter: number;
  readonly #output: Output;
  #sequence = 0;
  #text = '';
  #isAnnounced = false;
  #isBegun = false;
  #usage: Usage | undefined;
  #tier: string | undefined;
  #state: State;

  constructor(head: ResponseHead, { startingAfter = -1, ending = {} }: StreamOptions = {}) {
    this.#head = head;
    this.#ending = ending;
    this.#startingAfter = startingAfter;
    this.#state = { status: head.isBackground ? 'queued' : 'in_progress' };
    this.#output = new Output(
      head.id,
      head.isEncrypted,
      (type, fields) => this.#event(type, fields),
      byModelName([...((head.echo['tools'] ?? []) as Json[]), ...(head.moreTools ?? [])]),
    );
  }

  encode(batch: Batch): string {
    this.#text = '';
    this.#announce();
    for (const chunk of batch) {
      this.#begin();
      this.#one(chunk);
    }
    const text = this.#text;
    this.#text = '';
    return text;
  }

  end(): string {
    return '';
  }

  /** What has been said. */
  get items(): readonly KeptItem[] {
    return this.#output.items;
  }

  /** The whole answer, as far as it has come. `encrypted`: with what vendors attached to thoughts. */
  response(encrypted: boolean = this.#head.isEncrypted): Json {
    const output = this.#output.shown(encrypted).map((item) =>
      // Nothing goes on any more in an answer that is over.
      this.#isOver && item['status'] === 'in_progress' ? { ...item, status: 'incomplete' } : item,
    );
    const tier = this.#tier ?? this.#ending.tier;
    return responseOf(this.#head, {
      ...this.#state,
      usage: this.#usage,
      output,
      ...this.#ending,
      ...(tier === undefined ? {} : { tier }),
    });
  }

  get #isOver(): boolean {
    return this.#state.status !== 'queued' && this.#state.status !== 'in_progress';
  }

  #one(chunk: Chunk): void {
    switch (chunk.type) {
      case 'usage':
        this.#usage = chunk.usage;
        break;
      case 'finish':
        this.#tier = chunk.serviceTier;
        this.#finish(chunk.finish);
        break;
      case 'error':
        this.#fail(chunk.error);
        break;
      case 'auth':
        this.#fail(chunk.auth);
        break;
      default:
        this.#output.add(chunk);
    }
  }

  #announce(): void {
    if (this.#isAnnounced) return;
    this.#isAnnounced = true;
    this.#lifecycle('created');
    if (this.#head.isBackground) this.#lifecycle('queued');
    else this.#begin();
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#state = { status: 'in_progress' };
    this.#lifecycle('in_progress');
    if (this.#ending.search !== undefined) this.#output.search(this.#ending.search);
  }

  #finish(reason: string): void {
    const incomplete = INCOMPLETE[reason];
    const status = incomplete === undefined ? 'completed' : 'incomplete';
    this.#output.end(status);
    this.#state = { status, ...(incomplete === undefined ? {} : { incomplete }) };
    this.#lifecycle(status);
  }

  #fail(info: ErrorInfo): void {
    const status = info.code === 'cancelled' ? 'cancelled' : 'failed';
    this.#event('error', { code: info.code, message: `${info.name}: ${info.message}`, param: null });
    this.#state = { status, ...(status === 'failed' ? { error: errorOf(info) } : {}) };
    // There is no event of its own for an answer that was cancelled; the status says it.
    this.#lifecycle('failed');
  }

  #lifecycle(name: string): void {
    this.#event(`response.${name}`, () => ({ response: this.response() }));
  }

  #event(type: string, fields: Json | (() => Json)): void {
    const number = this.#sequence;
    this.#sequence += 1;
    if (number <= this.#startingAfter) return;
    const members = typeof fields === 'function' ? fields() : fields;
    this.#text += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...members })}\n\n`;
  }
}

/** Ends that are none, and what the format calls them. */
const INCOMPLETE: Readonly<Record<string, string | undefined>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};
