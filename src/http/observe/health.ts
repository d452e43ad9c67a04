import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps, Handler } from '../deps.ts';
import type { ReadyAnswer } from './wire.ts';

/** How long what was found out about the storage counts, and how long it may take to answer, in milliseconds. */
const FRESH_MS = 1_000;
const PATIENCE_MS = 1_000;

/** `GET /health`: the process answers. */
export function health(): Handler {
  return async () => ({ status: 'ok' });
}

/** `GET /ready`: whether requests should be sent here. */
export function ready({ calls, stores }: Pick<Deps, 'calls' | 'stores'>): Handler {
  const storage = new StorageProbe(stores);
  return async (_request, reply) => {
    const answer: ReadyAnswer = calls.draining
      ? { status: 'draining', message: 'Sluice is shutting down.' }
      : await storage.look();
    return reply.code(answer.status === 'ready' ? 200 : 503).send(answer);
  };
}

/** Asks the storage for something it does not have. However many want to know, it is asked once a second. */
class StorageProbe {
  readonly #stores: Deps['stores'];
  #hasAnswered = false;
  #asked = Number.NEGATIVE_INFINITY;
  #found: Promise<ReadyAnswer> | undefined;

  constructor(stores: Deps['stores']) {
    this.#stores = stores;
  }

  look(): Promise<ReadyAnswer> {
    const now = performance.now();
    if (this.#found === undefined || now - this.#asked >= FRESH_MS) {
      this.#asked = now;
      this.#found = this.#ask();
    }
    return this.#found;
  }

  async #ask(): Promise<ReadyAnswer> {
    const patience = new AbortController();
    const late = sleep(PATIENCE_MS, 'late' as const, { signal: patience.signal, ref: false }).catch(() => undefined);
    // Without requests nothing is written, and with trouble there are no requests: it would never be seen to end.
    const answered = Promise.all([this.#stores.recover(), this.#stores.caches.get('ready')]).then(
      () => 'answered' as const,
      () => 'failed' as const,
    );
    const found = await Promise.race([answered, late]);
    patience.abort();
    if (found === 'answered') this.#hasAnswered = true;
    const { problem } = this.#stores;
    if (found === 'answered' && problem === undefined) return { status: 'ready' };
    if (found === 'late' && !this.#hasAnswered && problem === undefined) {
      void answered.then((later) => {
        this.#hasAnswered ||= later === 'answered';
      });
      return { status: 'starting', message: 'The storage is being opened.' };
    }
    return { status: 'storage_failed', message: problem ?? 'The storage does not answer.' };
  }
}
