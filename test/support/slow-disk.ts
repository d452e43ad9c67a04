import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Database } from '../../src/stores/sqlite/database.ts';
import { testLogger } from './call.ts';

const FOLDER = fileURLToPath(new URL('../../src/stores/sqlite/', import.meta.url));

/** A database whose disk may stand still: what it is asked then, it hears once it goes on. It is waited for a second. */
export function slowDisk(file: string): { database: Database; standStill(): void; goOn(): void } {
  let isStill = false;
  const held: (() => void)[] = [];
  const start = (entry: string, workerData: string) => {
    const worker = new Worker(`${FOLDER}${entry}.ts`, { workerData, env: {}, execArgv: [] });
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (message: unknown) => {
      if (isStill) held.push(() => post(message));
      else post(message);
    };
    return worker;
  };
  return {
    database: new Database(file, testLogger(), { start, answerMs: 1_000 }),
    standStill() {
      isStill = true;
    },
    goOn() {
      isStill = false;
      for (const send of held.splice(0)) send();
    },
  };
}
