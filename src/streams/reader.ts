import type { EventLog } from './event-log.ts';

/** Where a reader's bytes go; the stream of a response is one. */
export interface Sink {
  readonly closed: boolean;
  /** Bytes as latin1 text. Returns false when it takes no more for now. */
  write(text: string, encoding: 'latin1'): boolean;
  /** Calls back once it takes more, or is closed. */
  onDrain(listener: () => void): void;
  end(): void;
  /** Ends it so that the other side knows that something is missing. */
  cut(): void;
}

const EVENT_END = Buffer.from('\n\n');

/** One reader of a log: at its own pace from some event on, until the log ends or the sink is closed. */
export class Reader {
  readonly #events: EventLog;
  readonly #sink: Sink;
  readonly #lagged: () => string;
  #position: number;
  #isFull = false;
  #isWithin = false;
  #unlisten = (): void => {};

  /**
   * @param after the number of the last event that is there already
   * @param lagged the last words, as latin1 text, to a reader so slow that what it reads next is no longer kept
   */
  constructor(events: EventLog, after: number, sink: Sink, lagged: () => string) {
    this.#events = events;
    this.#sink = sink;
    this.#lagged = lagged;
    this.#position = events.positionAfter(after);
  }

  start(): void {
    this.#unlisten = this.#events.onChange(() => this.#send());
    this.#send();
  }

  stop(): void {
    this.#unlisten();
  }

  #send(): void {
    while (!this.#isFull && !this.#sink.closed) {
      const bytes = this.#events.read(this.#position);
      if (bytes === undefined) {
        this.#giveUp();
        return;
      }
      if (bytes.length === 0) {
        if (this.#events.ended) this.#sink.end();
        return;
      }
      this.#position += bytes.length;
      this.#isWithin = !bytes.subarray(-EVENT_END.length).equals(EVENT_END);
      if (this.#sink.write(bytes.toString('latin1'), 'latin1')) continue;
      this.#isFull = true;
      this.#sink.onDrain(() => {
        this.#isFull = false;
        this.#send();
      });
    }
  }

  /** Words of ours in the middle of an event would be taken for its text. */
  #giveUp(): void {
    if (this.#isWithin) {
      this.#sink.cut();
      return;
    }
    this.#sink.write(this.#lagged(), 'latin1');
    this.#sink.end();
  }
}
