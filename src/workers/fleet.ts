import cluster, { type Worker } from 'node:cluster';
import { randomInt } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../core/logger.ts';
import { Channel, type Message } from './channel.ts';
import { watchHandedOver } from './handed-over.ts';
import { socketOf } from './socket-folder.ts';
import type { Beginning } from './words.ts';

/** Why a worker that never served has ended. */
export class StartFailure extends Error {
  readonly lines: readonly string[];
  readonly exitCode: number;

  constructor(lines: readonly string[], exitCode: number) {
    super(lines.join('\n'));
    this.lines = lines;
    this.exitCode = exitCode;
  }
}

/** A worker as the primary knows it. */
export interface Member {
  readonly tag: string;
  readonly pid: number | undefined;
  readonly channel: Channel;
  /** `failed`: it will never serve, and ends. `failing`: it served, will end by itself, and only finishes what it answers. */
  readonly state: 'starting' | 'serving' | 'failed' | 'retiring' | 'failing';
  /** The port that it was told to listen on; 0: the system chooses. */
  readonly askedPort: number;
  readonly ended: Promise<void>;
  /** Rejects with a `StartFailure` when it ends before it serves. */
  readonly served: Promise<Served>;
}

/** What a worker tells once it listens. */
export interface Served {
  readonly port: number;
  /** What greets whoever started Sluice. */
  readonly text: string;
}

/** Told of workers that come and go. */
export interface FleetEvents {
  /** A worker is there: what it may ask is to be answered from now on. */
  joined(member: Member): void;
  left(member: Member): void;
  /** One that served is about to end by itself. */
  failing(member: Member): void;
  /** One that served has ended by itself. `how`: exit code or signal. */
  crashed(member: Member, how: string): void;
}

const TAGS = 0x10000;
/** How long a worker may take until it serves, in milliseconds: one that hangs must not keep others from taking its place. */
const START_MS = 120_000;
/** How long one that is retired may take until it says that it takes no new connection, in milliseconds. */
const RETIRE_MS = 5_000;
/** How long the last words of a worker that has ended may be on their way, in milliseconds. */
const LAST_WORDS_MS = 300;
/** The number under which a worker has our log. */
const LOG_DESCRIPTOR = 4;
/**
 * Each start of a process sets that writing to its standard descriptors waits for the reader, and its end does so again, for
 * all that share them: a pipe, a socket, a terminal. With a reader that stands still we would then stand still, too. So workers have
 * pipes of their own, for what Node itself says, and the log besides.
 */
const STDIO = ['ignore', 'pipe', 'pipe', 'ipc', 2] as const;
const isWindows = process.platform === 'win32';
/** Bytes of these pipes that may wait for a slow reader of ours. */
const LONGEST_QUEUE = 1024 * 1024;
/** A trouble that goes on is complained of once; after so many milliseconds without it, it is another one. */
const COMPLAIN_MS = 10_000;

/** The processes of the workers. */
export class Fleet {
  readonly #events: FleetEvents;
  readonly #log: Logger;
  readonly #startMs: number;
  readonly #members = new Map<Member, Worker>();
  /** Begins anywhere: what an earlier primary's workers answered must not seem to belong to one that runs. */
  #last = randomInt(TAGS);
  #lastRefusal = Number.NEGATIVE_INFINITY;

  constructor(events: FleetEvents, log: Logger, { startMs = START_MS } = {}) {
    this.#events = events;
    this.#log = log;
    this.#startMs = startMs;
    cluster.setupPrimary({ serialization: 'advanced', ...(isWindows ? {} : { stdio: [...STDIO] }) });
  }

  get all(): readonly Member[] {
    return [...this.#members.keys()];
  }

  get serving(): readonly Member[] {
    return this.all.filter(({ state }) => state === 'serving');
  }

  /** Starts one; it serves once `served` is fulfilled. */
  start(beginning: Omit<Beginning, 'tag' | 'logDescriptor'>): Member {
    this.#last = (this.#last + 1) % TAGS;
    const tag = this.#last.toString(16).padStart(4, '0');
    // Whoever cleans the temporary files up may have taken it.
    mkdirSync(beginning.folder, { recursive: true, mode: 0o700 });
    const worker = cluster.fork();
    const channel = new Channel((messages) => {
      if (worker.isConnected()) worker.send(messages, () => {});
    });
    const served = Promise.withResolvers<Served>();
    const ended = Promise.withResolvers<void>();
    const member = {
      tag,
      pid: worker.process.pid,
      channel,
      state: 'starting' as Member['state'],
      askedPort: beginning.config.bind.port,
      ended: ended.promise,
      served: served.promise,
    };
    this.#members.set(member, worker);
    channel.on('serving', ({ port, text }) => {
      if (member.state === 'starting') member.state = 'serving';
      served.resolve({ port, text });
    });
    /** Another one may take its place at once: its own end may be a while off. */
    const failed = (failure: StartFailure): void => {
      if (member.state === 'starting') member.state = 'failed';
      served.reject(failure);
    };
    const late = setTimeout(() => {
      failed(new StartFailure([`a worker did not begin to serve within ${this.#startMs / 1_000} seconds`], 1));
      worker.process.kill('SIGKILL');
    }, this.#startMs);
    const inTime = (): void => clearTimeout(late);
    served.promise.then(inTime, inTime);
    channel.on('failing', () => {
      failed(new StartFailure(['an exception was not caught'], 1));
      if (member.state !== 'serving') return;
      member.state = 'failing';
      this.#events.failing(member);
    });
    channel.on('failed', ({ lines, exitCode }) => failed(new StartFailure(lines, exitCode)));
    worker.on('message', (messages: readonly Message[]) => {
      if (Array.isArray(messages)) channel.receive(messages);
    });
    const disconnect = watchHandedOver(worker.process, () => this.#refused(member));
    // What it said last may still be on its way when it has ended already.
    const isSilent = Promise.all([
      new Promise((resolve) => worker.once('disconnect', resolve)),
      passOn(worker.process.stdout, process.stdout),
      passOn(worker.process.stderr, process.stderr),
    ]);
    worker.once('exit', async (code: number | null, signal: string | null) => {
      await Promise.race([isSilent, sleep(LAST_WORDS_MS)]);
      disconnect();
      // Who was killed leaves its socket behind, which others would take for a sign of life.
      if (process.platform !== 'win32') rmSync(socketOf(beginning.folder, tag), { force: true });
      this.#ended(member, signal ?? `exit code ${code}`, served.reject, ended.resolve);
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (member.pid !== undefined) {
        this.#log.warn({ error: error.message, worker: member.pid }, 'a worker could not be reached');
        return;
      }
      // Nothing ends that has not begun: no `exit` follows.
      served.reject(new StartFailure([`no process could be started (${error.code ?? error.message})`], 1));
      this.#ended(member, 'not started', served.reject, ended.resolve);
    });
    this.#events.joined(member);
    channel.tell('begin', { ...beginning, tag, ...(isWindows ? {} : { logDescriptor: LOG_DESCRIPTOR }) });
    return member;
  }

  /** Resolves once it takes no new connection any more, or hangs. */
  async retire(member: Member): Promise<void> {
    (member as { state: Member['state'] }).state = 'retiring';
    await member.channel.askBriefly('retire', undefined, RETIRE_MS);
  }

  /** Tells all to stop, and waits for their end. */
  async stop(): Promise<void> {
    const members = this.all;
    for (const { channel } of members) channel.tell('stop', undefined);
    await Promise.all(members.map(({ ended }) => ended));
  }

  /** Ends all at once. */
  kill(): void {
    for (const worker of this.#members.values()) worker.process.kill('SIGKILL');
  }

  #refused({ pid }: Member): void {
    const now = performance.now();
    if (now - this.#lastRefusal > COMPLAIN_MS) {
      this.#log.warn({ worker: pid }, 'a worker cannot take a connection: it has too many files open; trying again');
    }
    this.#lastRefusal = now;
  }

  #ended(member: Member, how: string, fail: (error: Error) => void, done: () => void): void {
    this.#members.delete(member);
    member.channel.close();
    const { state } = member;
    fail(new StartFailure([`a worker ended before it served (${how})`], 1));
    this.#events.left(member);
    const hasServed = state !== 'starting' && state !== 'failed';
    if (hasServed && !(state === 'retiring' && how === 'exit code 0')) this.#events.crashed(member, how);
    done();
  }
}

/** Resolves at the end of `from`. What `to` has no room for is lost, as lines of the log are. */
async function passOn(from: Readable | null, to: Writable): Promise<void> {
  if (from === null) return;
  from.on('data', (bytes: Buffer) => {
    if (to.writableLength < LONGEST_QUEUE) to.write(bytes);
  });
  await new Promise((resolve) => from.once('close', resolve));
}
