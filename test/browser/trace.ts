import type { Browser, Page } from 'playwright-core';

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds since the machine was started. */
  readonly ts: number;
  /** Microseconds by the clock, and of the processor. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Chromium's own trace of a page while `work` runs: all events, and the tasks of the page's thread. */
async function traced(
  browser: Browser,
  page: Page,
  categories: readonly string[],
  work: () => Promise<unknown>,
): Promise<{ readonly events: readonly TraceEvent[]; readonly tasks: readonly TraceEvent[] }> {
  await browser.startTracing(page, {
    categories: ['-*', 'toplevel', 'disabled-by-default-lighthouse', '__metadata', ...categories],
  });
  let trace: Buffer;
  try {
    await work();
    // What resolved may not be over yet, and a task without an end is not in the trace.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents: events } = JSON.parse(trace.toString('utf8')) as { traceEvents: readonly TraceEvent[] };
  const threads = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = events.filter(({ name, pid, tid }) => name.endsWith('RunTask') && threads.has(`${pid} ${tid}`));
  if (tasks.length === 0) throw new Error('The trace has no tasks of the page');
  return { events, tasks };
}

/** In milliseconds of the time that the processor gave it, so that other programs of the machine do not count. */
function timeOf({ tdur, dur }: TraceEvent): number {
  return (tdur ?? dur ?? 0) / 1000;
}

/** The tasks of a page's thread that took more than `most` ms of the processor's time while `work` ran. */
export async function longTasks(
  browser: Browser,
  page: Page,
  work: () => Promise<unknown>,
  most = 50,
): Promise<number[]> {
  const { tasks } = await traced(browser, page, [], work);
  return tasks.map(timeOf).filter((milliseconds) => milliseconds > most);
}

/** How long the processor worked for the page's thread while `work` ran, up to the first words; in milliseconds. */
export async function workUntilWords(browser: Browser, page: Page, work: () => Promise<unknown>): Promise<number> {
  const { events, tasks } = await traced(browser, page, ['loading'], work);
  const paint = events.filter(({ name }) => name === 'firstContentfulPaint').at(-1);
  if (paint === undefined) throw new Error('The trace has no first words');
  const before = tasks.filter(({ pid, ts }) => pid === paint.pid && ts <= paint.ts);
  return before.reduce((all, task) => all + timeOf(task), 0);
}
