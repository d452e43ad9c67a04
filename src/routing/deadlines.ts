import { Roster, type Rostered } from '../core/roster.ts';

/** A wait with an end: expires when nobody touches it for as long as it was given. */
export interface Deadline {
  /** Starts anew, now. */
  touch(): void;
  /** Starts anew with another length in milliseconds; Infinity never expires. */
  set(milliseconds: number): void;
  /** Ends it; it will not expire any more. */
  clear(): void;
}

/** How often deadlines are looked at, in milliseconds. They expire at most this much late. */
const TICK_MS = 100;
/** Ticks without deadlines after which the timer ends: making one for every request costs more than a second of ticks. */
const IDLE_TICKS = 10;

/**
 * All deadlines of the process, on one timer. A stream touches its deadline with every chunk, which must cost nothing: it
 * notes the time of the last tick, and the tick does the comparing.
 */
export class Deadlines {
  readonly #open = new Roster<Entry>();
  #now = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #idleTicks = 0;

  /** @param onExpire runs once, when the deadline passes; the deadline is cleared then */
  start(milliseconds: number, onExpire: () => void): Deadline {
    if (this.#timer === undefined) {
      this.#now = performance.now();
      this.#timer = setInterval(() => this.#tick(), TICK_MS);
      this.#timer.unref();
    }
    const entry = new Entry(this, milliseconds, onExpire);
    this.#open.add(entry);
    return entry;
  }

  get now(): number {
    return this.#now;
  }

  remove(entry: Entry): void {
    this.#open.remove(entry);
  }

  #tick(): void {
    this.#now = performance.now();
    this.#open.each((entry) => {
      if (this.#now - entry.since < entry.length) return;
      this.#open.remove(entry);
      entry.onExpire();
    });
    this.#idleTicks = this.#open.size === 0 ? this.#idleTicks + 1 : 0;
    if (this.#idleTicks < IDLE_TICKS) return;
    this.#idleTicks = 0;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

class Entry implements Deadline, Rostered {
  place = -1;
  readonly #owner: Deadlines;
  readonly onExpire: () => void;
  length: number;
  since: number;

  constructor(owner: Deadlines, length: number, onExpire: () => void) {
    this.#owner = owner;
    this.length = length;
    this.onExpire = onExpire;
    this.since = performance.now();
  }

  touch(): void {
    this.since = this.#owner.now;
  }

  set(milliseconds: number): void {
    this.length = milliseconds;
    this.since = performance.now();
  }

  clear(): void {
    this.#owner.remove(this);
  }
}
