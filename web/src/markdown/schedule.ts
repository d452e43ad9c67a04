import { whenIdle } from '../idle.ts';

/** Work that can wait, in pieces: each returns true when there is more of it. */
type Job = () => boolean;

const jobs = new Set<Job>();
let scheduled = false;

/** How long the page's thread is held in one go, in milliseconds; a frame has 16. */
const SLICE = 6;

/** Runs a job in slices between frames until it returns false. The result takes it back. */
export function inSlices(job: Job): () => void {
  jobs.add(job);
  if (!scheduled) {
    scheduled = true;
    next();
  }
  return () => jobs.delete(job);
}

function next(): void {
  // Not only when idle: a page that streams all the time would never be.
  whenIdle(run, 100);
}

function run(): void {
  const end = performance.now() + SLICE;
  try {
    for (const job of jobs) {
      work(job, end);
      if (performance.now() > end) break;
    }
  } finally {
    scheduled = jobs.size > 0;
    if (scheduled) next();
  }
}

/** One that throws is done: the others go on without it. */
function work(job: Job, end: number): void {
  let hasMore = false;
  try {
    do hasMore = job();
    while (hasMore && performance.now() <= end);
  } catch (thrown) {
    hasMore = false;
    throw thrown;
  } finally {
    if (!hasMore) jobs.delete(job);
  }
}

/**
 * Calls back behind the next frame; soon, where no frames come because the page is hidden. The result takes it back. Within the frame
 * the work would be one task together with the browser's own for it, and so hold the page twice as long.
 */
export function onFrame(callback: () => void): () => void {
  const cancel = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    behind.port1.close();
  };
  const call = () => {
    cancel();
    callback();
  };
  const behind = new MessageChannel();
  behind.port1.onmessage = call;
  const frame = requestAnimationFrame(() => behind.port2.postMessage(undefined));
  const timer = setTimeout(call, 250);
  return cancel;
}
