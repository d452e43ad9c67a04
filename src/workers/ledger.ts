import { fromJson, type Group, toJson } from '../observe/insights.ts';
import type { KeptPage, Ledger, OwnLedger } from '../observe/ledger.ts';
import { ProcessMetrics } from '../observe/metrics/process.ts';
import { recordOf, type Seen } from '../observe/observation.ts';
import type { LogQuery } from '../observe/request-log.ts';
import { version } from '../package.ts';
import type { Channel } from './channel.ts';
import type { ProcessSums } from './process-metrics.ts';
import type { Noted, WorkerPresent } from './words.ts';

/** How long finished requests wait for others to travel with them, in milliseconds. A reader does not wait for it. */
const WAIT_MS = 20;
/** How long one worker may hold up whoever reads the metrics of all, in milliseconds. */
const PATIENCE_MS = 2_000;

/** The ledger of the primary, for a worker. */
export class RemoteLedger implements Ledger {
  readonly #primary: Channel;
  readonly #process = new ProcessMetrics();
  #waiting: Noted[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(primary: Channel) {
    this.#primary = primary;
  }

  count(seen: Seen): void {
    this.#note({ type: 'count', seen: recordOf(seen) });
  }

  add(seen: Seen, isComplete: boolean): void {
    this.#note({ type: 'add', seen: recordOf(seen), isComplete });
  }

  keep(seen: Seen): void {
    this.#note({ type: 'keep', seen: recordOf(seen) });
  }

  spent(seen: Seen, cost: number | null): void {
    this.#note({ type: 'spent', seen: { ...recordOf(seen), content: undefined }, cost });
  }

  query(query: LogQuery): Promise<KeptPage> {
    return this.#primary.ask('ledger.query', query);
  }

  find(id: string): Promise<Seen | undefined> {
    return this.#primary.ask('ledger.find', id);
  }

  clear(): Promise<number> {
    return this.#primary.ask('ledger.clear', undefined);
  }

  async days(dates: readonly string[]): Promise<ReadonlyMap<string, readonly Group[]>> {
    const days = await this.#primary.ask('ledger.days', dates);
    return new Map(days.map(([date, groups]) => [date, fromJson(groups)]));
  }

  /** Of all workers, whatever this one does at present. */
  render(): Promise<string> {
    return this.#primary.ask('ledger.render', undefined);
  }

  /** Metrics of this process, as text. */
  process(): Promise<string> {
    return this.#process.render();
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    this.#primary.tell('seen', this.#waiting);
    this.#waiting = [];
  }

  async close(): Promise<void> {
    this.#process.stop();
    await this.flush();
  }

  #note(noted: Noted): void {
    this.#waiting.push(noted);
    this.#timer ??= setTimeout(() => void this.flush(), WAIT_MS);
  }
}

/** Lets a worker write into the ledger of the primary, and read it. `workers` are all that there are. */
export function serveLedger(
  worker: Channel,
  ledger: OwnLedger,
  processes: ProcessSums,
  workers: () => readonly Channel[],
): void {
  /** What all workers do now; afterwards everything that they had noted has arrived. */
  async function presents(): Promise<readonly WorkerPresent[]> {
    const asked = workers().map(async (each) => {
      const found = await each.askBriefly('present', undefined, PATIENCE_MS);
      if (found !== undefined) processes.note(each, found.process);
      return found;
    });
    return (await Promise.all(asked)).filter((each) => each !== undefined);
  }
  worker.on('seen', (noted) => {
    for (const each of noted) take(ledger, each);
  });
  worker.on('ledger.query', async (query) => {
    await presents();
    return ledger.query(query);
  });
  worker.on('ledger.find', async (id) => {
    await presents();
    return ledger.find(id);
  });
  worker.on('ledger.clear', async () => {
    await presents();
    return ledger.clear();
  });
  worker.on('ledger.days', async (dates) => {
    await presents();
    return [...(await ledger.days(dates))].map(([date, groups]) => [date, toJson(groups)] as const);
  });
  worker.on('ledger.render', async () => {
    const found = await presents();
    const running = found.reduce((sum, each) => sum + each.running, 0);
    const streams = found.reduce((sum, each) => sum + each.streams, 0);
    const own = await ownProcess.render();
    return ledger.render({ running, streams, version }, processes.render(own));
  });
}

const ownProcess = new ProcessMetrics();

function take(ledger: OwnLedger, noted: Noted): void {
  switch (noted.type) {
    case 'count':
      ledger.count(noted.seen);
      break;
    case 'add':
      ledger.add(noted.seen, noted.isComplete);
      break;
    case 'keep':
      ledger.keep(noted.seen);
      break;
    case 'spent':
      ledger.spent(noted.seen, noted.cost);
  }
}
