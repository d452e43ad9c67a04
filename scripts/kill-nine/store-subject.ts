import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryActor } from './memory-actor.ts';
import { bucketActor, chatActor, usageActor } from './store-actors.ts';
import type { Work } from './store-process.ts';
import type { Content, Remembering, Subject } from './subject.ts';

/** The ports, as far as the actors use them. */
export interface RunningStores extends Remembering {
  putChat(id: string, body: Content): Promise<void>;
  getChat(id: string): Promise<Content | undefined>;
  writeFile(bucket: string, name: string, text: string): Promise<void>;
  /** Everything that is listed in a bucket, by name, with what is read from it. */
  files(bucket: string): Promise<ReadonlyMap<string, string>>;
  deleteBucket(bucket: string): Promise<void>;
  addUsage(user: string): Promise<void>;
  /** How many records a user has: one by one, and by the sums. */
  usage(user: string): Promise<{ readonly records: number; readonly summed: number }>;
}

/** A question to the process, and its answer. */
export interface Asked {
  readonly id: number;
  readonly method: keyof Work;
  readonly words: readonly unknown[];
}
export type Told = { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: string };

const PROCESS = fileURLToPath(new URL('./store-process.ts', import.meta.url));

/** The stores in a process of their own, without a gateway around them. */
export function storeSubject(dataDir: string): Subject<RunningStores> {
  return {
    longestLifeMs: 250,
    longestRestMs: 0,
    actors: (id) => [chatActor(id), memoryActor(id), bucketActor(id), usageActor(id)],
    start: () => startProcess(dataDir),
    leftovers() {
      const folder = path.join(dataDir, 'files', '.tmp');
      return existsSync(folder) ? readdirSync(folder) : [];
    },
  };
}

async function startProcess(dataDir: string): Promise<RunningStores> {
  const started = performance.now();
  const child = fork(PROCESS, [dataDir], { execPath: process.execPath, execArgv: [], serialization: 'advanced' });
  const waiting = new Map<number, (told: Told) => void>();
  let lastId = 0;
  child.on('message', (told: Told) => {
    waiting.get(told.id)?.(told);
    waiting.delete(told.id);
  });
  child.on('error', () => {
    // Sending to a dead process; `close` tells everyone who waits.
  });
  const gone = once(child, 'close').then(() => {
    for (const [id, settle] of waiting) settle({ id, error: 'the process is gone' });
    waiting.clear();
  });
  function answerTo(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      waiting.set(id, (told) => ('error' in told ? reject(new Error(told.error)) : resolve(told.value)));
    });
  }
  function ask<M extends keyof Work>(method: M): Work[M] {
    const work = async (...words: readonly unknown[]) => {
      if (!child.connected) throw new Error('the process is gone');
      lastId += 1;
      const answer = answerTo(lastId);
      const asked: Asked = { id: lastId, method, words };
      child.send(asked, () => {});
      return await answer;
    };
    return work as Work[M];
  }
  await answerTo(0);
  return {
    readyMs: performance.now() - started,
    putChat: ask('putChat'),
    getChat: ask('getChat'),
    addMemory: ask('addMemory'),
    memory: ask('memory'),
    writeFile: ask('writeFile'),
    files: ask('files'),
    deleteBucket: ask('deleteBucket'),
    addUsage: ask('addUsage'),
    usage: ask('usage'),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
