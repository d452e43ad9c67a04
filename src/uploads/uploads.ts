import { randomBytes } from 'node:crypto';
import { SluiceError } from '../core/errors.ts';
import { cautiousNow } from '../core/file-age.ts';
import { collectBytes } from '../core/pieces.ts';
import { deleteWithBytes, onlyStorage } from '../core/storage-failure.ts';
import type { ByteRange, Files, OpenFile, UploadQuery, UploadRecord, UploadStore } from '../core/stores.ts';
import { isUploadId, uploadIdOf } from '../core/upload-address.ts';
import { archiveText, type Conversion } from '../documents/conversion.ts';
import type { Converter } from '../documents/converter.ts';

/** Where the bytes are, below the folder of files: a folder for each, of its id's name. */
export const UPLOADS_FOLDER = 'sent';
/** Files that have expired are removed so many at a time: whenever a file comes or a list is asked for, and by the sweep. */
const REMOVED_AT_ONCE = 50;

/** What `Uploads` works with. `now` is for tests: the clock, in milliseconds since 1970. */
export interface UploadDeps {
  readonly records: UploadStore;
  readonly files: Files;
  readonly converter: Pick<Converter, 'convert'>;
  /** SHA-256 of the present access key, hex; null: the server has none. */
  readonly owner: () => string | null;
  readonly now?: () => number;
}

/** A file as it is sent. */
export interface NewUpload extends Pick<UploadRecord, 'name' | 'mimeType' | 'purpose'> {
  /** One that no file has; absent: a new one is made. */
  readonly id?: string;
  readonly bytes: Uint8Array;
  /** Milliseconds after which it is gone; absent: it stays. */
  readonly expiresAfterMs?: number;
}

/** Files that clients send once and refer to by their ids. */
export class Uploads {
  readonly #deps: UploadDeps;

  constructor(deps: UploadDeps) {
    this.#deps = deps;
  }

  /** It is on disk when the promise resolves. */
  async add({ id = uploadIdOf(newUploadName()), bytes, expiresAfterMs, ...about }: NewUpload): Promise<UploadRecord> {
    await this.#removeExpired().catch(onlyStorage);
    const path = `${folderOf(id)}/original`;
    const createdAt = this.#now();
    const expires = expiresAfterMs === undefined ? null : createdAt + expiresAfterMs;
    const record = { id, owner: this.#deps.owner(), ...about, size: bytes.length, createdAt, expires, path };
    await this.#deps.files.write(path, [bytes]);
    try {
      await this.#deps.records.add(record);
    } catch (error) {
      await this.#discard(id).catch(() => {
        // The sweep will find them.
      });
      throw error;
    }
    return record;
  }

  /** Bytes that no record knows are nobody's. Noting them may have worked although it failed: a disk that answers too late. */
  async #discard(id: string): Promise<void> {
    if ((await this.#deps.records.get(id)) === undefined) await this.#deps.files.delete(folderOf(id));
  }

  /** A file of the caller's. Throws `not_found`; `param` names the field that has the id. */
  async get(id: string, param = 'file_id'): Promise<UploadRecord> {
    const record = await this.find(id);
    if (record === undefined) throw missing(id, param);
    return record;
  }

  /** The same; undefined where there is none. */
  async find(id: string): Promise<UploadRecord | undefined> {
    const record = isUploadId(id) ? await this.#deps.records.get(id) : undefined;
    const isThere = record !== undefined && (record.expires === null || record.expires > this.#now());
    return isThere && isSeenBy(record, this.#deps.owner()) ? record : undefined;
  }

  /** `param` names the field that has the id of `after`. */
  async list(
    query: Pick<UploadQuery, 'purpose' | 'order' | 'after' | 'limit'>,
    param = 'after',
  ): Promise<readonly UploadRecord[]> {
    // Reading goes on where nothing can be written. What has expired is left out anyway.
    await this.#removeExpired().catch(onlyStorage);
    if (query.after !== undefined) await this.get(query.after, param);
    return await this.#deps.records.list({ ...query, owner: this.#deps.owner(), now: this.#now() });
  }

  async delete(id: string): Promise<void> {
    await this.get(id);
    const { records, files } = this.#deps;
    const isGone = await deleteWithBytes(
      () => records.delete(id),
      () => files.delete(folderOf(id)),
    );
    if (!isGone) throw missing(id, 'file_id');
  }

  /**
   * What a document says, as markdown or plain text; undefined where it is none. It is converted once.
   *
   * @param signal ends the conversion
   */
  async text(record: UploadRecord, signal?: AbortSignal): Promise<string | undefined> {
    if (record.size === 0) return '';
    const path = `${folderOf(record.id)}/text.md`;
    const before = await this.#deps.files.open(path);
    if (before !== undefined) return (await collectBytes(before.body)).toString('utf8');
    const bytes = await collectBytes((await this.open(record)).body);
    const text = textOf(await this.#deps.converter.convert({ name: record.name, bytes }, signal && { signal }));
    if (text !== undefined) await this.#keepText(record.id, path, text);
    return text;
  }

  /** That it cannot be kept is no reason to fail: it is made anew then. A file that was deleted meanwhile leaves nothing. */
  async #keepText(id: string, path: string, text: string): Promise<void> {
    await this.#deps.files.write(path, [Buffer.from(text)]).catch(onlyStorage);
    await this.#discard(id);
  }

  async open(record: UploadRecord, range?: ByteRange): Promise<OpenFile> {
    const opened = await this.#deps.files.open(record.path, range);
    if (opened === undefined) throw missing(record.id, 'file_id');
    return opened;
  }

  #removeExpired(): Promise<number> {
    return removeExpired(this.#deps, (this.#deps.now ?? cautiousNow)());
  }

  #now(): number {
    return (this.#deps.now ?? Date.now)();
  }
}

/** Removes some of the files that have expired by `now`. Returns how many; 0: there is none any more. */
export async function removeExpired(
  { records, files }: Pick<UploadDeps, 'records' | 'files'>,
  now: number,
): Promise<number> {
  const expired = await records.expired(now, REMOVED_AT_ONCE);
  for (const { id } of expired) {
    await deleteWithBytes(
      () => records.delete(id),
      () => files.delete(folderOf(id)),
    );
  }
  return expired.length;
}

/** What belongs to nobody is everybody's. `owner`: see `UploadDeps`. */
export function isSeenBy(file: Pick<UploadRecord, 'owner'>, owner: string | null): boolean {
  return file.owner === null || file.owner === owner;
}

/** A name that no file has; see `uploadIdOf`. */
export function newUploadName(): string {
  return randomBytes(24).toString('hex');
}

function folderOf(id: string): string {
  return `${UPLOADS_FOLDER}/${id}`;
}

function textOf(conversion: Conversion): string | undefined {
  switch (conversion.kind) {
    case 'markdown':
    case 'text':
      return conversion.text;
    case 'archive':
      return archiveText(conversion.entries);
    default:
      return undefined;
  }
}

function missing(id: string, param: string): SluiceError {
  return new SluiceError(
    'not_found',
    `There is no file '${id.slice(0, 100)}': it was deleted, has expired, or never came.`,
    {
      param,
    },
  );
}
