import { Worker } from 'node:worker_threads';
import type { Call } from '../core/call.ts';
import { SluiceError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { missingPart } from '../core/missing-part.ts';
import { threadEnvironment } from '../core/threads.ts';
import type { EncodedFormat } from './encoders.ts';
import type { FromSpeaker, SpeechPiece, ToSpeaker } from './protocol.ts';

/** What shall be heard, and as which kind of file. */
export interface Utterance {
  /** At least one, none longer than a few hundred characters or some seconds of sound; all of the same rate. */
  readonly pieces: readonly SpeechPiece[];
  readonly format: EncodedFormat;
}

/** Times in milliseconds. */
export interface SynthesizerLimits {
  /** Utterances at the same time. */
  readonly places: number;
  /** For one piece, of which the first in a while has to wait for the thread to start. */
  readonly pieceMs: number;
  /** A listener who has not asked for more for this long makes place for a new one when all places are taken. */
  readonly stalledMs: number;
  /** The thread and its memory are given back after this long without work. */
  readonly idleMs: number;
}

const LIMITS: SynthesizerLimits = { places: 64, pieceMs: 30_000, stalledMs: 60_000, idleMs: 60_000 };

/**
 * Speaks, and makes files of sound, with one thread, which is ten and more times faster than anybody listens. Utterances take turns piece by piece,
 * and no piece is computed before its listener needs it soon.
 */
export class Synthesizer {
  readonly #log: Logger;
  readonly #limits: SynthesizerLimits;
  readonly #start: () => Worker;
  readonly #sessions = new Set<Session>();
  readonly #waiting: Job[] = [];
  #worker: Worker | undefined;
  #running: Job | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;

  /** @param start starts the thread; tests give another one */
  constructor(log: Logger, limits: Partial<SynthesizerLimits> = {}, start: () => Worker = startSpeaker) {
    this.#log = log;
    this.#limits = { ...LIMITS, ...limits };
    this.#start = start;
  }

  /** Utterances that are open now. */
  get open(): number {
    return this.#sessions.size;
  }

  /** Whether the thread is there. */
  get awake(): boolean {
    return this.#worker !== undefined;
  }

  /** The bytes of one audio file as they come. Throws `overloaded` when too much is being said already. */
  async *speak(utterance: Utterance, call: Call): AsyncGenerator<Uint8Array, void> {
    const session = this.#enter(utterance);
    const forget = call.onCancel((reason) => this.#drop(session, reason));
    try {
      let next = this.#ask(session, 0);
      for (let index = 0; index < utterance.pieces.length; index += 1) {
        const bytes = await next;
        // The next piece is computed while this one travels.
        if (index + 1 < utterance.pieces.length) {
          next = this.#ask(session, index + 1);
          next.catch(() => {}); // told to whoever awaits it, if anybody still does
        }
        session.waitingSince = performance.now();
        if (bytes.length > 0) yield bytes;
        session.waitingSince = undefined;
      }
    } finally {
      forget();
      const { said } = session;
      const { length } = utterance.pieces;
      if (said < length) this.#log.debug({ id: call.id, said, pieces: length }, 'a speech was not heard to its end');
      this.#drop(session, new SluiceError('cancelled', 'Nobody listens any more.'));
    }
  }

  close(): void {
    for (const session of this.#sessions) this.#drop(session, new SluiceError('shutting_down', 'Sluice is stopping.'));
    this.#stop();
  }

  #enter(utterance: Utterance): Session {
    if (this.#sessions.size >= this.#limits.places) this.#makePlace();
    const session: Session = { id: this.#nextId, utterance, said: 0, lost: undefined, waitingSince: undefined };
    this.#nextId += 1;
    this.#sessions.add(session);
    clearTimeout(this.#idle);
    return session;
  }

  /** Players stop reading when they have enough for a while, so stalling alone is no offence. */
  #makePlace(): void {
    const patience = performance.now() - this.#limits.stalledMs;
    for (const session of this.#sessions) {
      if (session.waitingSince === undefined || session.waitingSince > patience) continue;
      this.#drop(session, new SluiceError('overloaded', 'The listener has not asked for more for a long time.'));
      return;
    }
    const { places } = this.#limits;
    throw new SluiceError('overloaded', `${places} texts are being read aloud already; try again shortly.`, {
      retryAfter: 2,
    });
  }

  #ask(session: Session, index: number): Promise<Uint8Array> {
    if (session.lost !== undefined) return Promise.reject(session.lost);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ session, index, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#running = job;
    const { session, index } = job;
    const { pieces, format } = session.utterance;
    const piece = pieces[index];
    if (piece === undefined) throw new Error('a piece that is not there was asked for');
    const worker = this.#awake();
    worker.ref();
    this.#watchdog = setTimeout(() => this.#lose('took too long'), this.#limits.pieceMs);
    const isLast = index === pieces.length - 1;
    worker.postMessage({ type: 'piece', id: session.id, piece, format, isLast } satisfies ToSpeaker);
  }

  #awake(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = this.#start();
    worker.on('message', (message: FromSpeaker) => this.#receive(worker, message));
    worker.on('error', (error) => this.#gone(worker, `failed: ${error instanceof Error ? error.message : error}`));
    worker.on('exit', (code) => this.#gone(worker, `ended with ${code}`));
    this.#worker = worker;
    return worker;
  }

  #receive(worker: Worker, message: FromSpeaker): void {
    const job = this.#running;
    if (worker !== this.#worker || job?.session.id !== message.id) return;
    this.#settle();
    if (message.type === 'bytes') {
      job.session.said += 1;
      job.resolve(message.bytes);
    } else {
      this.#log.error({ reason: message.reason }, 'the thread that speaks failed');
      job.reject(new SluiceError('provider_failed', 'The audio could not be made; the log has the details.'));
    }
    this.#next();
  }

  /** The running piece is over. */
  #settle(): void {
    clearTimeout(this.#watchdog);
    this.#running = undefined;
    this.#worker?.unref();
  }

  #gone(worker: Worker, how: string): void {
    if (worker === this.#worker) this.#lose(how);
  }

  /** The thread is lost, and with it what the open utterances had of their files. Those not begun go on with a new one. */
  #lose(how: string): void {
    this.#log.error({ how }, 'the thread that speaks was lost');
    const job = this.#running;
    this.#stop();
    job?.reject(missingPart(SPEAKER) ?? new SluiceError('provider_failed', `The thread that makes the audio ${how}.`));
    const lost = new SluiceError('upstream_cut', 'The thread that makes the audio was interrupted.');
    for (const session of this.#sessions) {
      if (session.said > 0 || session === job?.session) this.#drop(session, lost);
    }
    this.#next();
  }

  /** Ends an utterance, for its listener with `reason`. */
  #drop(session: Session, reason: Error): void {
    if (!this.#sessions.delete(session)) return;
    session.lost = reason;
    for (const job of this.#waiting.splice(0)) {
      if (job.session === session) job.reject(reason);
      else this.#waiting.push(job);
    }
    // The piece under way is computed to its end, which is near; the thread cannot listen before.
    if (this.#running?.session === session) this.#running.reject(reason);
    this.#worker?.postMessage({ type: 'close', id: session.id } satisfies ToSpeaker);
    if (this.#sessions.size > 0) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#stop(), this.#limits.idleMs).unref();
  }

  #stop(): void {
    this.#settle();
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }
}

/** One utterance on its way. */
interface Session {
  readonly id: number;
  readonly utterance: Utterance;
  /** Pieces that were computed. */
  said: number;
  /** Why it ended early. */
  lost: Error | undefined;
  /** Since when bytes wait for the listener. */
  waitingSince: number | undefined;
}

interface Job {
  readonly session: Session;
  readonly index: number;
  resolve(bytes: Uint8Array): void;
  reject(error: Error): void;
}

const SPEAKER = new URL('./speaker.ts', import.meta.url);

function startSpeaker(): Worker {
  const worker = new Worker(SPEAKER, {
    name: 'speaker',
    // Keys are no business of a voice, nor are the flags of a test runner or debugger.
    env: threadEnvironment(),
    execArgv: [],
    // What libraries print does not belong on the terminal.
    stdout: true,
    stderr: true,
  });
  for (const pipe of [worker.stdout, worker.stderr]) pipe.resume();
  return worker;
}
