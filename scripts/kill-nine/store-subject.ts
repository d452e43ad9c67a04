import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryActor } from './memory-actor.ts';
import type { RunningStores } from './running-stores.ts';
import { bucketActor, chatActor, usageActor } from './store-actors.ts';
import type { Asked, Told, Work } from './store-process.ts';
import type { Subject } from './subject.ts';

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
