import { readdir, readFile } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { gauge } from './families.ts';

/** How often the event loop's delay is looked at, in milliseconds: it wakes the process, so only once somebody has asked. */
const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

/** What is to be known of this process, asked for when somebody reads. */
export class ProcessMetrics {
  #delay: ReturnType<typeof monitorEventLoopDelay> | undefined;

  async render(): Promise<string> {
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const [open, most] = await Promise.all([openDescriptors(), mostDescriptors()]);
    return [
      gauge('process_cpu_seconds_total', 'CPU time, user and system.', (user + system) / 1e6, 'counter'),
      gauge('process_start_time_seconds', 'When the process started.', performance.timeOrigin / 1_000),
      gauge('process_resident_memory_bytes', 'Resident memory.', rss),
      gauge('process_open_fds', 'Open file descriptors.', open),
      gauge('process_max_fds', 'Most file descriptors that may be open.', most),
      gauge('nodejs_heap_size_used_bytes', 'Heap of JavaScript in use.', heapUsed),
      gauge('nodejs_heap_size_total_bytes', 'Heap of JavaScript.', heapTotal),
      gauge('nodejs_external_memory_bytes', 'Memory of objects outside the heap.', external),
      this.#eventLoop(),
    ].join('');
  }

  stop(): void {
    this.#delay?.disable();
  }

  /** Since the last reading; the first one has nothing to tell yet. */
  #eventLoop(): string {
    if (this.#delay === undefined) {
      this.#delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      this.#delay.enable();
      return '';
    }
    const delay = this.#delay;
    if (delay.count === 0) return '';
    // The histogram holds the whole intervals.
    const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1_000);
    const quantiles = [
      ['quantile="0.5"', seconds(delay.percentile(50))],
      ['quantile="0.99"', seconds(delay.percentile(99))],
      ['quantile="1"', seconds(delay.max)],
    ] as const;
    // Prometheus keeps the label `quantile` for summaries.
    const help = 'Delay of the event loop since the last reading.';
    const text = gauge('sluice_event_loop_lag_seconds', help, quantiles, 'summary');
    delay.reset();
    return text;
  }
}

async function openDescriptors(): Promise<number | undefined> {
  try {
    return (await readdir('/proc/self/fd')).length;
  } catch {
    // Other systems have no such folder; macOS has /dev/fd, which shows only what the shell gave.
    return undefined;
  }
}

async function mostDescriptors(): Promise<number | undefined> {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(await readFile('/proc/self/limits', 'utf8'))?.[1];
    return found === undefined ? undefined : Number(found);
  } catch {
    return undefined;
  }
}
