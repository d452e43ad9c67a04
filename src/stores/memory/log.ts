import type { LogStore } from '../../core/stores.ts';
import { checkId } from '../id.ts';
import { logBody, MOST_ENTRIES } from '../log-limits.ts';

interface Entry {
  readonly id: string;
  readonly time: number;
  readonly json: string;
}

/** The client log in this process's memory. */
export class MemoryLog implements LogStore {
  readonly #entries = new Map<string, Entry>();

  async add({ id, time, body }: Parameters<LogStore['add']>[0]): Promise<void> {
    if (this.#entries.has(checkId(id))) return;
    this.#entries.set(id, { id, time, json: logBody(body) });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MOST_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
  }

  async newest(limit: number): ReturnType<LogStore['newest']> {
    return [...this.#entries.values()]
      .reverse()
      .sort((one, other) => other.time - one.time)
      .slice(0, limit)
      .map(({ id, time, json }) => ({ id, time, body: JSON.parse(json) as Record<string, unknown> }));
  }
}
