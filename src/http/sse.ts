import type { ServerResponse } from 'node:http';
import { atEndOfTurn } from '../core/end-of-turn.ts';
import { Roster, type Rostered } from '../core/roster.ts';

/** How often silent streams are looked at, in milliseconds. */
const TICK_MS = 1_000;

/** One timer for the heartbeats of all streams. */
export class Heartbeats {
  readonly #streams = new Roster<EventStream>();
  readonly #intervalMs: () => number;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;

  /** @param intervalMs silence after which a comment is sent */
  constructor(intervalMs: () => number) {
    this.#intervalMs = intervalMs;
  }

  /** A number that grows with time; streams note it when they write. */
  get ticks(): number {
    return this.#ticks;
  }

  add(stream: EventStream): void {
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
  }

  remove(stream: EventStream): void {
    this.#streams.remove(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    this.#ticks += 1;
    const silence = Math.max(1, Math.round(this.#intervalMs() / TICK_MS));
    this.#streams.each((stream) => {
      if (this.#ticks - stream.lastWrite >= silence) stream.beat();
    });
  }
}

/** The only writer of streamed answers: framing comes from encoders, everything about the connection from here. */
export class EventStream implements Rostered {
  place = -1;
  lastWrite: number;
  readonly #response: ServerResponse;
  readonly #heartbeats: Heartbeats | undefined;
  readonly #onClosed: () => void;
  readonly #heartbeat: string;
  readonly #uncork = (): void => this.#response.socket?.uncork();
  #onDrain: (() => void) | undefined;
  #ended = false;

  /**
   * For an answer whose head was written. Without `heartbeats` (plain text, JSON lines) silence stays silent. `heartbeat` is what
   * breaks it: a comment, unless the dialect has an event for it.
   */
  constructor(
    response: ServerResponse,
    heartbeats: Heartbeats | undefined,
    onClosed: () => void,
    heartbeat = ': ping\n\n',
  ) {
    this.#response = response;
    this.#heartbeats = heartbeats;
    this.#onClosed = onClosed;
    this.#heartbeat = heartbeat;
    this.lastWrite = heartbeats?.ticks ?? 0;
    response.on('drain', () => {
      const onDrain = this.#onDrain;
      this.#onDrain = undefined;
      onDrain?.();
    });
    response.once('close', () => this.#close());
    // A client that has left already closes nothing any more.
    if (response.destroyed) process.nextTick(() => this.#close());
    heartbeats?.add(this);
  }

  get closed(): boolean {
    return this.#ended || this.#response.destroyed;
  }

  /** Returns false when the client reads more slowly than we write; then wait for `drained`. */
  write(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): boolean {
    if (this.#ended || text === '') return true;
    if (this.#heartbeats !== undefined) this.lastWrite = this.#heartbeats.ticks;
    const { socket } = this.#response;
    if (socket !== null && socket.writableCorked === 0) {
      socket.cork();
      atEndOfTurn(this.#uncork);
    }
    return this.#response.write(text, encoding);
  }

  /** Calls back once the client has caught up, or is gone. */
  onDrain(listener: () => void): void {
    if (this.closed) listener();
    else this.#onDrain = listener;
  }

  drained(): Promise<void> {
    return new Promise((resolve) => this.onDrain(resolve));
  }

  end(): void {
    if (this.#ended) return;
    this.#response.end();
    this.#close();
  }

  /** Ends the connection without the proper end of the body, which is the only sign of failure that plain text has. */
  cut(): void {
    // What was written in this turn leaves at its end.
    setImmediate(() => this.#response.destroy());
  }

  beat(): void {
    // A client that does not read needs no sign of life, and a queue of them even less.
    if (!this.closed && !this.#response.writableNeedDrain) this.write(this.#heartbeat);
  }

  #close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#heartbeats?.remove(this);
    const onDrain = this.#onDrain;
    this.#onDrain = undefined;
    onDrain?.();
    this.#onClosed();
  }
}
