import type { Browser, Page } from 'playwright-core';

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds by the clock, and of the processor. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * The tasks of a page's thread that took more than `most` ms while `work` ran, by Chromium's own trace. Measured in the time
 * that the processor gave them, in milliseconds, so that other programs of the machine do not count.
 */
export async function longTasks(
  browser: Browser,
  page: Page,
  work: () => Promise<unknown>,
  most = 50,
): Promise<number[]> {
  await browser.startTracing(page, { categories: ['-*', 'toplevel', 'disabled-by-default-lighthouse', '__metadata'] });
  let trace: Buffer;
  try {
    await work();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(trace.toString('utf8')) as { traceEvents: readonly TraceEvent[] };
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(({ name, pid, tid }) => name.endsWith('RunTask') && threads.has(`${pid} ${tid}`));
  if (tasks.length === 0) throw new Error('The trace has no tasks of the page');
  return tasks.map(({ tdur, dur }) => (tdur ?? dur ?? 0) / 1000).filter((milliseconds) => milliseconds > most);
}
