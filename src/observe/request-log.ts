import { recordOf, type Seen } from './observation.ts';

/** Bytes that an entry takes without its content, about. */
const ENTRY_BYTES = 600;
/** How many of the newest entries stand as objects: mostly they make room before anybody asks for their text. */
const FRESH = 300;

/** All of it has to fit; what each word is compared with says `RequestsQuery` of `http/observe`. */
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

/** What a query of the log finds. */
export interface LogPage {
  /** The newest first. */
  readonly entries: readonly Seen[];
  /** All that match. */
  readonly total: number;
  /** Where the next page begins: what comes `before` this id. */
  readonly next: string | undefined;
}

/** The most that the log keeps. */
export interface LogLimits {
  readonly entries: number;
  /** Of all contents together. */
  readonly bytes: number;
}

/**
 * The newest requests, in the order in which they ended; older ones make room. All but the freshest stand here as JSON: ten
 * thousand objects of thirty fields would be looked through by every collection of garbage, and a text is not.
 */
export class RequestLog {
  readonly #limits: LogLimits;
  /** A ring: each place is used again by the entry that comes `limits.entries` later. */
  #entries: (Seen | string | undefined)[] = [];
  /** The sizes of the contents, in the same places. */
  #sizes: number[] = [];
  #bytes = 0;
  /** The place of the oldest entry, and the one behind the newest, counted on without end. */
  #begin = 0;
  #end = 0;

  constructor(limits: LogLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#end - this.#begin;
  }

  /** The place behind the newest entry; places are never used twice, as long as nothing is restored. */
  get end(): number {
    return this.#end;
  }

  /** The entries from a place on, at most the newest `most`, as JSON. */
  from(place: number, most: number): readonly string[] {
    const texts: string[] = [];
    for (let at = Math.max(place, this.#begin, this.#end - most); at < this.#end; at += 1) texts.push(this.#textAt(at));
    return texts;
  }

  add(entry: Seen): void {
    const { entries, bytes } = this.#limits;
    if (this.size === entries) this.#drop();
    const at = this.#end;
    this.#end += 1;
    this.#entries[at % entries] = recordOf(entry);
    if (this.size > FRESH) this.#textAt(at - FRESH);
    const size = entry.content === undefined ? 0 : ENTRY_BYTES + this.#textAt(at).length;
    this.#sizes[at % entries] = size;
    this.#bytes += size;
    while (this.#bytes > bytes && this.size > 1) this.#drop();
  }

  /**
   * Puts these entries, any of them perhaps twice, in place of all that stand before a place: those of an earlier run, or what other
   * processes have made of them. Returns the new place of those behind.
   */
  restore(older: readonly Seen[], place = this.#begin): number {
    const present = this.from(place, this.size).map(seenOf);
    const entries = new Map(older.map((entry) => [entry.id, entry]));
    for (const { id } of present) entries.delete(id);
    this.clear();
    for (const entry of [...entries.values(), ...present]) this.add(entry);
    return this.#end - present.length;
  }

  /** What ended before a time goes: milliseconds since 1970. Returns how many there were. */
  dropBefore(time: number): number {
    const before = this.size;
    while (this.size > 0 && endOf(seenOf(this.#textAt(this.#begin))) < time) this.#drop();
    return before - this.size;
  }

  clear(): number {
    const count = this.size;
    while (this.size > 0) this.#drop();
    return count;
  }

  find(id: string): Seen | undefined {
    const found = this.#texts().findLast(isOf(id));
    return found === undefined ? undefined : seenOf(found);
  }

  query(query: LogQuery): LogPage {
    const found = this.#matching(query);
    const entries = found.slice(0, query.limit).map(seenOf);
    const next = found.length > entries.length ? entries.at(-1)?.id : undefined;
    return { entries, total: found.length, next };
  }

  #matching(query: LogQuery): readonly string[] {
    const texts = this.#texts();
    const { before, after } = query;
    // An id stands for a place, which still works where several requests ended at the same time.
    const end = typeof before === 'string' ? texts.findIndex(isOf(before)) : texts.length;
    const start = typeof after === 'string' ? texts.findIndex(isOf(after)) + 1 : 0;
    const between = texts.slice(start, Math.max(0, end)).reverse();
    return asksForAll(query) ? between : between.filter((text) => matches(seenOf(text), query));
  }

  #texts(): readonly string[] {
    return this.from(this.#begin, this.size);
  }

  /** An entry is kept as its text once somebody has asked for that. */
  #textAt(place: number): string {
    const at = place % this.#limits.entries;
    const entry = this.#entries[at] ?? '';
    if (typeof entry === 'string') return entry;
    const text = JSON.stringify(entry);
    this.#entries[at] = text;
    return text;
  }

  /** The oldest makes room. */
  #drop(): void {
    const at = this.#begin % this.#limits.entries;
    this.#begin += 1;
    this.#entries[at] = undefined;
    this.#bytes -= this.#sizes[at] ?? 0;
  }
}

function seenOf(text: string): Seen {
  return JSON.parse(text) as Seen;
}

/** When a request ended, milliseconds since 1970. */
export function endOf({ time, duration }: Pick<Seen, 'time' | 'duration'>): number {
  return time + duration;
}

/** Whether an entry has this id, which comes first, without reading all of it. */
function isOf(id: string): (text: string) => boolean {
  const beginning = `{"id":${JSON.stringify(id)},`;
  return (text) => text.startsWith(beginning);
}

/** Whether a request went well from beginning to end. */
export function isOk({ status, error }: Pick<Seen, 'status' | 'error'>): boolean {
  return status < 400 && error === undefined;
}

/** Whether something failed: that the client left, or stopped the answer, is nobody's failure. */
export function isFailure(seen: Pick<Seen, 'status' | 'error'>): boolean {
  return !isOk(seen) && seen.error?.code !== 'cancelled';
}

/** Whether no entry has to be looked at. */
function asksForAll({ provider, model, user, status, text, before, after }: LogQuery): boolean {
  const filters = [provider, model, user, status, text];
  return typeof before !== 'number' && typeof after !== 'number' && filters.every((filter) => filter === undefined);
}

function matches(entry: Seen, { provider, model, user, status, text, before, after }: LogQuery): boolean {
  if (typeof before === 'number' && entry.time >= before) return false;
  if (typeof after === 'number' && entry.time <= after) return false;
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
