import type { IncomingHttpHeaders } from 'node:http';

/** Reads that follow each other within so many milliseconds are quick. */
const QUICK_MS = 4;
/** So many quick ones in a row, and the next waits: the first words of an answer never do. */
const QUICK_READS = 2;
/** A read of so many bytes is worth its while as it is. */
const LARGE_BYTES = 16 * 1024;
/** A timer of Node's fires no sooner. */
const SOON_MS = 1;

/**
 * Tells of one streamed answer when the next read had better wait until more is there. An upstream that sends word after word
 * faster than they are looked through would have each of them read, sent and received by itself, and most of what that costs
 * is the same for one word and for fifty.
 */
export class QuickReads {
  #isStream = false;
  #readAt = 0;
  #quick = 0;

  /** Another answer begins. */
  begin(headers: IncomingHttpHeaders): void {
    this.#isStream = headers['content-type']?.startsWith('text/event-stream') === true;
    this.#readAt = 0;
    this.#quick = 0;
  }

  /** Something was read. Returns whether the next read is to wait, as `soon` does. */
  add(bytes: number): boolean {
    if (!this.#isStream) return false;
    const now = performance.now();
    this.#quick = now - this.#readAt < QUICK_MS ? this.#quick + 1 : 0;
    this.#readAt = now;
    return this.#quick >= QUICK_READS && bytes < LARGE_BYTES;
  }
}

let waiting: (() => void)[] = [];

/** Calls back in one to two milliseconds, with one timer for all that wait. `call` must not throw. */
export function soon(call: () => void): void {
  if (waiting.length === 0) setTimeout(callAll, SOON_MS);
  waiting.push(call);
}

function callAll(): void {
  const all = waiting;
  waiting = [];
  for (const call of all) call();
}
