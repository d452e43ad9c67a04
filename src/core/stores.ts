import type { UsageBatch } from './usage-batch.ts';
import type { UsageRecord, UsageTotals } from './usage-record.ts';

/**
 * The ports of everything that is kept. Implementations live in `stores/`; handlers know only these. Whatever a promise
 * acknowledges is on disk. When a store is out of order it throws `SluiceError('storage_failed')`, and chats go on without.
 */

/** Things with an id: shared chats, buckets, cached answers. */
export interface Records<T extends { readonly id: string }> {
  get(id: string): Promise<T | undefined>;
  put(record: T): Promise<void>;
  /**
   * The same with a record that is text already.
   *
   * @param expires milliseconds since 1970; null: never
   * @param json the whole record
   */
  putJson(id: string, expires: number | null, json: string): Promise<void>;
  /**
   * Writes what `change` makes of the present record, with no other write in between; undefined leaves it as it is.
   * Returns the record that is then stored. `change` is pure: it may run again when somebody else was faster.
   */
  update(id: string, change: (present: T | undefined) => T | undefined): Promise<T | undefined>;
  /** Whether there was one. With `only` a record goes only if that says so of it, with no write in between. */
  delete(id: string, only?: (present: T) => boolean): Promise<boolean>;
  /**
   * Lets those of `ids` that are there, and would expire before `lapsing`, live until `until`, both milliseconds since 1970. What a
   * record itself says of its end stays as it was written.
   */
  prolong(ids: readonly string[], lapsing: number, until: number): Promise<void>;
  /** Removes those that have expired by `now`, milliseconds since 1970. Returns how many there were. */
  forgetExpired(now: number): Promise<number>;
  /** Removes those whose ids are not before `from`, byte by byte, and before `end`. Returns how many there were. */
  deleteBetween(from: string, end: string): Promise<number>;
}

/** One remembered statement of or about a user. */
export interface MemoryItem {
  readonly id: string;
  readonly userId: string;
  readonly role: string;
  readonly text: string;
  readonly conversationId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Names and the values that an item has to have under them. */
export type MemoryFilters = Readonly<Record<string, string | number | boolean | null>>;

/** A page of one user's items. */
export interface MemoryQuery {
  /** Ranked full-text search: items with any of the terms, the best first; without it the newest first. */
  readonly text?: string;
  /**
   * Equality on what an item is: `id`, `user_id`, `role`, `memory` (its text), `conversation_id`, `created_at` and `updated_at`
   * (whole milliseconds since 1970). Any other name is a key of its metadata.
   */
  readonly filters?: MemoryFilters;
  /** Equality on keys of the metadata; `conversation_id` is the item's. */
  readonly metadata?: MemoryFilters;
  readonly offset: number;
  readonly limit: number;
}

/** `total` counts all that match; `score` is given for a search, higher is better. */
export interface MemoryPage {
  readonly total: number;
  readonly items: readonly (MemoryItem & { readonly score?: number })[];
}

/** What users want to be remembered, apart by user. */
export interface MemoryStore {
  /** An id that is there is replaced, but for the time when it came. */
  add(items: readonly MemoryItem[]): Promise<void>;
  find(userId: string, query: MemoryQuery): Promise<MemoryPage>;
  /** One item, or all of a user. Returns how many there were. */
  delete(userId: string, id?: string): Promise<number>;
}

/** The tokens of one model, provider or user. */
export interface TokensOf {
  readonly name: string;
  readonly totalTokens: number;
}

/** Sums of a period, and its tokens by model, provider and user. */
export interface UsageStats {
  /** Every day of the period, also those without requests, oldest first; `date` is yyyy-mm-dd. */
  readonly days: readonly ({ readonly date: string } & UsageTotals)[];
  readonly models: readonly TokensOf[];
  readonly providers: readonly TokensOf[];
  readonly users: readonly TokensOf[];
  readonly totals: UsageTotals;
}

/** Usage of tokens. Sums are kept as records come in, so that asking costs the same after a million of them. */
export interface UsageStore {
  /** A batch that is there already, because nobody knew whether it had been kept, changes nothing. */
  add(batch: UsageBatch): Promise<void>;
  /** The records of a day (yyyy-mm-dd, UTC), oldest first. */
  day(date: string): AsyncIterable<UsageRecord>;
  /** The last `days` days up to `today`. */
  stats(query: { readonly today: string; readonly days: number; readonly user?: string }): Promise<UsageStats>;
  /** Forgets all days before one, sums included. Returns how many entries there were. */
  forgetBefore(date: string): Promise<number>;
}

/** What a client wants logged. */
export interface LogEntry {
  readonly id: string;
  readonly time: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What clients want logged. */
export interface LogStore {
  add(entry: LogEntry): Promise<void>;
  /** The newest first. */
  newest(limit: number): Promise<readonly LogEntry[]>;
}

/** A conversation of the Responses API, without its items. */
export interface ConversationRecord {
  readonly id: string;
  /** SHA-256 of the access key with which it was begun, hex; null: the server had none. */
  readonly owner: string | null;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A message, a call, a thought or the like, as the Responses API has it. */
export interface ConversationItem {
  readonly id: string;
  /** In the words of `http/responses`. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** An item where it stands: a later one has a higher place. */
export type PlacedItem = ConversationItem & { readonly place: number };

/** Which items of a conversation are wanted, and in which order. Places are exclusive. */
export interface ItemRange {
  readonly order: 'asc' | 'desc';
  readonly above?: number;
  readonly below?: number;
  readonly limit: number;
  /** They end with the one with which all have so many bytes, or more. */
  readonly bytes?: number;
}

/** Conversations: lists of items that grow at their end. What is added together stands together. */
export interface ConversationStore {
  create(conversation: ConversationRecord, items: readonly ConversationItem[]): Promise<void>;
  get(id: string): Promise<ConversationRecord | undefined>;
  /** Replaces the metadata. False: there is no such conversation. */
  describe(id: string, metadata: ConversationRecord['metadata']): Promise<boolean>;
  /** Goes with all of its items. Whether there was one. */
  delete(id: string): Promise<boolean>;
  /** Adds all or nothing. False: there is no such conversation, or it has an item of one of the ids, or two of them are the same. */
  append(id: string, items: readonly ConversationItem[]): Promise<boolean>;
  items(id: string, range: ItemRange): Promise<readonly PlacedItem[]>;
  /** How many there are between two places, and how many bytes they have, without reading them. */
  size(
    id: string,
    between?: Pick<ItemRange, 'above' | 'below'>,
  ): Promise<{ readonly items: number; readonly bytes: number }>;
  /** Those of the ids that are there. */
  find(id: string, items: readonly string[]): Promise<readonly PlacedItem[]>;
  /** Whether there was one. */
  deleteItem(id: string, item: string): Promise<boolean>;
}

/** A file of the Files API. Its bytes are in `Files`. */
export interface UploadRecord {
  readonly id: string;
  /** SHA-256 of the access key with which it was sent, hex; null: the server had none. */
  readonly owner: string | null;
  /** As its sender calls it. */
  readonly name: string;
  readonly mimeType: string;
  readonly purpose: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970; later it counts as absent. Null: never. */
  readonly expires: number | null;
  /** Path in `Files`. */
  readonly path: string;
}

/** A page of files. */
export interface UploadQuery {
  /** Theirs, and nobody's. */
  readonly owner: string | null;
  readonly purpose?: string;
  /** By the order in which they came. */
  readonly order: 'asc' | 'desc';
  /** The id of a file behind which the list goes on; one that is not there: nothing. */
  readonly after?: string;
  readonly limit: number;
  /** What has expired by then is left out; milliseconds since 1970. */
  readonly now: number;
}

/** Files that clients sent to refer to them. */
export interface UploadStore {
  add(upload: UploadRecord): Promise<void>;
  /** Also one that has expired. */
  get(id: string): Promise<UploadRecord | undefined>;
  list(query: UploadQuery): Promise<readonly UploadRecord[]>;
  /** Whether there was one. */
  delete(id: string): Promise<boolean>;
  /** Those that have expired by `now`, at most `limit`. */
  expired(now: number, limit: number): Promise<readonly UploadRecord[]>;
}

/** A part of a file, as HTTP counts it (RFC 9110 §14.1.2). */
export interface ByteRange {
  /** First byte. */
  readonly start: number;
  /** Last byte, inclusive. */
  readonly end: number;
}

/** What is known of a stored file without reading it. Sizes are in bytes. */
export interface FileInfo {
  /** Relative, with `/`: `media/1700000000_cat_0123456789abcdef.png`. */
  readonly path: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** A stored file that is being read. */
export interface OpenFile extends FileInfo {
  /** The bytes of the range asked for, or all. Destroyed when the consumer stops early. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** How a write differs from replacing what is there. */
export interface WriteOptions {
  /** Throws `conflict` where something is there already, also when that has come only just now, from another process. */
  readonly onlyNew?: boolean;
}

/**
 * Bytes with a path. A path has one to five segments of `[A-Za-z0-9._+,=@-]`, none of them beginning with a dot, at most
 * 255 bytes each; anything else throws `invalid_request`. A file is there as a whole or not at all.
 */
export interface Files {
  /** Replaces what is there. */
  write(
    path: string,
    body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options?: WriteOptions,
  ): Promise<FileInfo>;
  stat(path: string): Promise<FileInfo | undefined>;
  open(path: string, range?: ByteRange): Promise<OpenFile | undefined>;
  /** All files below a folder, at any depth, in no particular order. */
  list(folder: string): AsyncIterable<FileInfo>;
  /** One file or everything below a folder. Returns how many files there were. */
  delete(path: string): Promise<number>;
}

/** Everything that is kept, opened together. */
export interface Stores {
  readonly chats: Records<ChatRecord>;
  readonly buckets: Records<BucketRecord>;
  readonly caches: Records<CacheRecord>;
  readonly responses: Records<ResponseRecord>;
  readonly conversations: ConversationStore;
  readonly uploads: UploadStore;
  readonly memory: MemoryStore;
  readonly usage: UsageStore;
  readonly log: LogStore;
  readonly files: Files;
  /** What is wrong with the storage, in a sentence; undefined when it is sound. */
  readonly problem: string | undefined;
  /** Looks whether what is wrong has passed, though nobody uses it: `problem` knows once what is read after this is answered. Never throws. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

/** A shared chat as its owner uploaded it. */
export interface ChatRecord {
  readonly id: string;
  /** SHA-256 of the owner's secret, hex; null: nobody's. */
  readonly owner: string | null;
  /** The client's own time stamp, milliseconds; 0 when it sent none. */
  readonly updated: number;
  /** The JSON text that was sent. Of chats shared before texts were kept, the value. */
  readonly body: string | Readonly<Record<string, unknown>>;
}

/** One file of a bucket. Where its bytes are is made up here; the name is only what people call it. */
export interface BucketFile {
  readonly name: string;
  /** Of a member of an archive: where it stood in that. */
  readonly inner?: string;
  readonly kind: 'text' | 'media';
  /** Path in `Files`. */
  readonly path: string;
  /** Bytes: of the text, or of the media. */
  readonly size: number;
  readonly mimeType: string;
  /** After the orientation of EXIF was applied. */
  readonly width?: number;
  readonly height?: number;
  /** Path of the thumbnail in `Files`. */
  readonly thumbnail?: string;
}

/** What a bucket holds, in the order in which it came. */
export interface BucketRecord {
  readonly id: string;
  readonly files: readonly BucketFile[];
}

/** An answer of the Responses API with what it was asked. */
export interface ResponseRecord {
  readonly id: string;
  /** SHA-256 of the access key that asked for it, hex; null: the server had none. */
  readonly owner: string | null;
  /** Milliseconds since 1970; later it counts as absent. */
  readonly expires: number;
  /** In the words of `http/responses`. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Something that may be forgotten. */
export interface CacheRecord {
  readonly id: string;
  /** Milliseconds since 1970; later it counts as absent. */
  readonly expires: number;
  readonly value: unknown;
}
