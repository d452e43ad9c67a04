import type { Records } from '../../core/stores.ts';
import { checkId } from '../id.ts';

/** Records in this process's memory. They go in and out as JSON, as with every other store. */
export class MemoryRecords<T extends { readonly id: string }> implements Records<T> {
  readonly #records = new Map<string, string>();
  readonly #isPast: (record: T) => boolean;

  /** @param isPast whether a record is to be forgotten */
  constructor(isPast: (record: T) => boolean = () => false) {
    this.#isPast = isPast;
  }

  async get(id: string): Promise<T | undefined> {
    return this.#get(id);
  }

  async put(record: T): Promise<void> {
    this.#records.set(checkId(record.id), JSON.stringify(record));
  }

  async update(id: string, change: (present: T | undefined) => T | undefined): Promise<T | undefined> {
    const present = this.#get(id);
    const next = change(present);
    if (next === undefined) return present;
    if (next.id !== id) throw new Error('an update must not change the id');
    await this.put(next);
    return next;
  }

  async delete(id: string, only: (present: T) => boolean = () => true): Promise<boolean> {
    const present = this.#get(id);
    if (present !== undefined && !only(present)) return false;
    this.#records.delete(id);
    return present !== undefined;
  }

  #get(id: string): T | undefined {
    const json = this.#records.get(checkId(id));
    if (json === undefined) return undefined;
    const record = JSON.parse(json) as T;
    if (!this.#isPast(record)) return record;
    this.#records.delete(id);
    return undefined;
  }
}
