import type { Seen } from './observation.ts';

/** Bytes that an entry takes without its content, about. */
const ENTRY_BYTES = 600;

export interface LogQuery {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly user?: string | undefined;
  /** `ok`, `error`, a status, or a class of them such as `5xx`. */
  readonly status?: string | undefined;
  readonly text?: string | undefined;
  /** Milliseconds since 1970, or the id of an entry. */
  readonly before?: number | string | undefined;
  readonly after?: number | string | undefined;
  readonly limit: number;
}

export interface LogPage {
  /** The newest first. */
  readonly entries: readonly Seen[];
  /** All that match. */
  readonly total: number;
  /** Where the next page begins: what comes `before` this id. */
  readonly next: string | undefined;
}

export interface LogLimits {
  readonly entries: number;
  /** Of all contents together. */
  readonly bytes: number;
}

/** The newest requests, in the order in which they ended; older ones make room. */
export class RequestLog {
  readonly #limits: LogLimits;
  #entries: Seen[] = [];
  /** The sizes of the contents, in the same order. */
  #sizes: number[] = [];
  #bytes = 0;
  /** Entries that were added since the beginning. */
  #added = 0;

  constructor(limits: LogLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Changes with everything that is added or forgotten. */
  get version(): number {
    return this.#added;
  }

  /** The oldest first. */
  get entries(): readonly Seen[] {
    return this.#entries;
  }

  add(entry: Seen): void {
    this.#entries.push(entry);
    const size = contentBytes(entry);
    this.#sizes.push(size);
    this.#bytes += size;
    this.#added += 1;
    const { entries, bytes } = this.#limits;
    // One in ten goes at a time, since moving all the others costs something.
    if (this.#entries.length > entries + Math.max(1, entries / 10)) this.#drop(this.#entries.length - entries);
    while (this.#bytes > bytes && this.#entries.length > 1) this.#drop(1);
  }

  /** Entries of an earlier run, older than all others. */
  restore(older: readonly Seen[]): void {
    const present = this.#entries;
    const known = new Set(present.map(({ id }) => id));
    this.#entries = [];
    this.#sizes = [];
    this.#bytes = 0;
    for (const entry of [...older.filter(({ id }) => !known.has(id)), ...present]) this.add(entry);
  }

  clear(): number {
    const count = Math.min(this.#entries.length, this.#limits.entries);
    this.#drop(this.#entries.length);
    this.#added += 1;
    return count;
  }

  find(id: string): Seen | undefined {
    return this.#kept().findLast((entry) => entry.id === id);
  }

  query(query: LogQuery): LogPage {
    const found = this.#matching(query);
    const entries = found.slice(0, query.limit);
    const next = found.length > entries.length ? entries.at(-1)?.id : undefined;
    return { entries, total: found.length, next };
  }

  #matching(query: LogQuery): readonly Seen[] {
    const kept = this.#kept();
    const { before, after } = query;
    // An id stands for a place, which still works where several requests ended at the same time.
    const end = typeof before === 'string' ? kept.findIndex(({ id }) => id === before) : kept.length;
    const start = typeof after === 'string' ? kept.findIndex(({ id }) => id === after) + 1 : 0;
    return kept
      .slice(start, Math.max(0, end))
      .filter(
        (entry) =>
          (typeof before !== 'number' || entry.time < before) &&
          (typeof after !== 'number' || entry.time > after) &&
          matches(entry, query),
      )
      .reverse();
  }

  /** Without those that go with the next cleaning. */
  #kept(): readonly Seen[] {
    const { entries } = this.#limits;
    return this.#entries.length > entries ? this.#entries.slice(-entries) : this.#entries;
  }

  #drop(count: number): void {
    this.#entries.splice(0, count);
    for (const size of this.#sizes.splice(0, count)) this.#bytes -= size;
  }
}

/** Whether a request went well from beginning to end. */
export function isOk({ status, error }: Pick<Seen, 'status' | 'error'>): boolean {
  return status < 400 && error === undefined;
}

/** Whether something failed: that the client left, or stopped the answer, is nobody's failure. */
export function isFailure(seen: Pick<Seen, 'status' | 'error'>): boolean {
  return !isOk(seen) && seen.error?.code !== 'cancelled';
}

function matches(entry: Seen, { provider, model, user, status, text }: LogQuery): boolean {
  const names = (pick: (of: Seen | Seen['failures'][number]) => string | undefined) =>
    [pick(entry), ...entry.failures.map(pick)].map((name) => name?.toLowerCase());
  if (provider !== undefined && !names((of) => of.provider).includes(provider.toLowerCase())) return false;
  if (model !== undefined) {
    const wanted = model.toLowerCase();
    if (![...names((of) => of.model), entry.asked?.toLowerCase()].includes(wanted)) return false;
  }
  if (user !== undefined && entry.user.toLowerCase() !== user.toLowerCase()) return false;
  if (status !== undefined && !hasStatus(entry, status)) return false;
  return text === undefined || wordsOf(entry).includes(text.toLowerCase());
}

function hasStatus(entry: Seen, wanted: string): boolean {
  if (wanted === 'ok') return isOk(entry);
  if (wanted === 'error') return !isOk(entry);
  const status = String(entry.status);
  return wanted.endsWith('xx') ? status[0] === wanted[0] : status === wanted;
}

function wordsOf({ id, route, user, asked, provider, model, error, failures, content }: Seen): string {
  const words = [id, route, user, asked, provider, model, error?.code, error?.name, error?.message];
  for (const failure of failures) words.push(failure.provider, failure.model, failure.code);
  if (content !== undefined) {
    words.push(content.answer?.text, content.answer?.reasoning, JSON.stringify(content.request?.body));
  }
  return words
    .filter((word) => word !== undefined)
    .join('\n')
    .toLowerCase();
}

function contentBytes({ content }: Seen): number {
  return content === undefined ? 0 : ENTRY_BYTES + JSON.stringify(content).length;
}
