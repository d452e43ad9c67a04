import { Worker } from 'node:worker_threads';
import type { Conversion, Rejected } from './conversion.ts';
import type { FromWorker, Job } from './protocol.ts';

/**
 * A worker: a process of its own, so that a crash in native code takes no more than this along and SIGKILL always ends it. The
 * work itself is done in a thread, since only then can somebody watch it: this thread, which gives the job up when the memory
 * of the process grows beyond the limit.
 */

const WATCH_MS = 50;
/** What of the limit JavaScript may take; the rest is for native code, buffers and the process itself. */
const HEAP_SHARE = 0.6;
const MEGABYTE = 1024 * 1024;
const TOO_MUCH_MEMORY: Rejected = { kind: 'rejected', reason: 'needs too much memory', isOverLimit: true };

let thread: Worker | undefined;
let watch: NodeJS.Timeout | undefined;
let isWorking = false;

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// A terminal and a service manager signal the whole group, but a draining gateway still needs its workers.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('message', (message) => work(message as Job));
send({ type: 'ready' });

function work(job: Job): void {
  const { memoryBytes } = job.limits;
  isWorking = true;
  watch = setInterval(() => {
    if (process.memoryUsage.rss() < memoryBytes) return;
    // The thread goes on with what nobody wants any more, so this process must not get another job.
    end(TOO_MUCH_MEMORY, Number.POSITIVE_INFINITY);
  }, WATCH_MS);
  thread ??= startThread(memoryBytes);
  thread.postMessage(job, transferable(job.bytes));
}

/** The memory of the bytes when it can be handed over instead of copied: when nothing else is in it. */
function transferable(bytes: Uint8Array): ArrayBuffer[] {
  const { buffer } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength ? [buffer] : [];
}

/** Reports the end of a job. What it holds too much of is told along: the gateway then replaces this process. */
function end(conversion: Conversion, resident = process.memoryUsage.rss()): void {
  // What a library left behind in the thread may fail when nobody waits any more.
  if (!isWorking) return;
  isWorking = false;
  clearInterval(watch);
  send({ type: 'done', conversion, resident });
}

function startThread(memoryBytes: number): Worker {
  const started = new Worker(new URL('./worker-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: Math.floor((memoryBytes * HEAP_SHARE) / MEGABYTE) },
  });
  started.on('message', (message: FromWorker) => {
    if (message.type === 'done') end(message.conversion);
    else send(message);
  });
  started.on('error', (error: NodeJS.ErrnoException) => {
    thread = undefined;
    const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    end(isFull ? TOO_MUCH_MEMORY : { kind: 'rejected', reason: 'could not be read' });
  });
  return started;
}

function send(message: FromWorker): void {
  // A channel that closed means that the gateway is gone; `disconnect` ends this process.
  process.send?.(message, undefined, undefined, () => {});
}
