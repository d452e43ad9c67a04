import { type Child, type ChildEvents, startChild } from '../core/child-process.ts';
import type { SluiceError } from '../core/errors.ts';
import { missingPart } from '../core/missing-part.ts';
import type { FromWorker, Job } from './protocol.ts';

/** The gateway's handle on a worker. */
export type WorkerProcess = Child<Job>;

/**
 * A worker reads code and computes; whoever takes it over from inside a document can write no file, start no program and
 * reach no network. (Node 24 does not know the last of these and leaves the network open.)
 */
export const WORKER_FLAGS: readonly string[] = [
  '--permission',
  '--allow-fs-read=*',
  '--allow-addons',
  '--allow-worker',
  // Warns that add-ons can do more than the permissions say.
  '--disable-warning=SecurityWarning',
];

const WORKER = new URL('./worker.ts', import.meta.url);

/** Starts a worker, with no more permissions than `WORKER_FLAGS` gives. */
export function startWorker(events: ChildEvents<FromWorker>): WorkerProcess {
  return startChild(WORKER, events, {
    execArgv: [...WORKER_FLAGS],
    // Copies bytes as bytes; the usual one would write them as JSON.
    serialization: 'advanced',
  });
}

/** Why none can be started, where its program is gone. */
export function missingWorker(): SluiceError | undefined {
  return missingPart(WORKER);
}
