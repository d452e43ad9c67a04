import cluster, { type Worker } from 'node:cluster';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../core/logger.ts';
import { Channel, type Message } from './channel.ts';
import { socketOf } from './elsewhere.ts';
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
  readonly state: 'starting' | 'serving' | 'retiring';
  readonly ended: Promise<void>;
  /** Rejects with a `StartFailure` when it ends before it serves. */
  readonly served: Promise<{ readonly text: string }>;
}

export interface FleetEvents {
  /** A worker is there: what it may ask is to be answered from now on. */
  joined(member: Member): void;
  left(member: Member): void;
  /** One that served has ended by itself. `how`: exit code or signal. */
  crashed(member: Member, how: string): void;
}

const TAGS = 0x10000;
/** How long the last words of a worker that has ended may be on their way, in milliseconds. */
const LAST_WORDS_MS = 300;

/** The processes of the workers. */
export class Fleet {
  readonly #events: FleetEvents;
  readonly #log: Logger;
  readonly #members = new Map<Member, Worker>();
  #last = 0;

  constructor(events: FleetEvents, log: Logger) {
    this.#events = events;
    this.#log = log;
    cluster.setupPrimary({ serialization: 'advanced' });
  }

  get all(): readonly Member[] {
    return [...this.#members.keys()];
  }

  get serving(): readonly Member[] {
    return this.all.filter(({ state }) => state === 'serving');
  }

  /** Starts one; it serves once `served` is fulfilled. */
  start(beginning: Omit<Beginning, 'tag'>): Member {
    this.#last = (this.#last + 1) % TAGS;
    const tag = this.#last.toString(16).padStart(4, '0');
    const worker = cluster.fork();
    const channel = new Channel((messages) => {
      if (worker.isConnected()) worker.send(messages, () => {});
    });
    const served = Promise.withResolvers<{ readonly text: string }>();
    const ended = Promise.withResolvers<void>();
    // Whoever does not wait for it does not want to hear of it either.
    served.promise.catch(() => {});
    const member = {
      tag,
      pid: worker.process.pid,
      channel,
      state: 'starting' as Member['state'],
      ended: ended.promise,
      served: served.promise,
    };
    this.#members.set(member, worker);
    channel.on('serving', ({ text }) => {
      if (member.state === 'starting') member.state = 'serving';
      served.resolve({ text });
    });
    channel.on('failed', ({ lines, exitCode }) => served.reject(new StartFailure(lines, exitCode)));
    worker.on('message', (messages: readonly Message[]) => {
      if (Array.isArray(messages)) channel.receive(messages);
    });
    const disconnect = watchConnections(worker);
    // What it said last may still be on its way when it has ended already.
    const isSilent = new Promise<void>((resolve) => worker.once('disconnect', resolve));
    worker.once('exit', async (code: number | null, signal: string | null) => {
      await Promise.race([isSilent, sleep(LAST_WORDS_MS)]);
      disconnect();
      // Who was killed leaves its socket behind, which others would take for a sign of life.
      if (process.platform !== 'win32') rmSync(socketOf(beginning.folder, tag), { force: true });
      this.#ended(member, signal ?? `exit code ${code}`, served.reject, ended.resolve);
    });
    worker.on('error', (error) => this.#log.warn({ err: error, worker: member.pid }, 'a worker could not be reached'));
    this.#events.joined(member);
    channel.tell('begin', { ...beginning, tag });
    return member;
  }

  retire(member: Member): void {
    (member as { state: Member['state'] }).state = 'retiring';
    member.channel.tell('retire', undefined);
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

  #ended(member: Member, how: string, fail: (error: Error) => void, done: () => void): void {
    this.#members.delete(member);
    member.channel.close();
    const { state } = member;
    fail(new StartFailure([`a worker ended before it served (${how})`], 1));
    this.#events.left(member);
    if (state !== 'starting' && !(state === 'retiring' && how === 'exit code 0')) this.#events.crashed(member, how);
    done();
  }
}

/**
 * Watches the connections that are on their way to a worker. Of one that dies meanwhile Node never says that it is disconnected, and
 * it keeps the connection open (`handoff` in lib/internal/cluster/round_robin_handle.js). The function that is returned makes up for
 * both, so that no client waits for ever. Connections travel one at a time, and to close one twice does nothing.
 */
function watchConnections({ process: child }: Worker): () => void {
  const { send } = child;
  let last: { close?(): void } | undefined;
  child.send = (...words: unknown[]): boolean => {
    const [, handle] = words;
    if (typeof handle === 'object' && handle !== null) last = handle;
    return Reflect.apply(send, child, words) as boolean;
  };
  return () => {
    last?.close?.();
    child.emit('disconnect');
  };
}
