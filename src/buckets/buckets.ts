import type { Limits } from '../config/config.ts';
import { SluiceError } from '../core/errors.ts';
import { framed } from '../core/framed-text.ts';
import { deleteWithBytes } from '../core/storage-failure.ts';
import type { BucketFile, BucketRecord, ByteRange, OpenFile, Records } from '../core/stores.ts';
import { Activity, type BucketEvent } from './activity.ts';
import { type Haul, Intake, type IntakeDeps, type Rejected, type Taken, type Upload, wasDeleted } from './intake.ts';
import { cleanName, freeName } from './names.ts';

/** What became of an upload. */
export interface Uploaded {
  /** Names of the texts. */
  readonly files: readonly string[];
  readonly media: readonly { readonly name: string; readonly width?: number; readonly height?: number }[];
  readonly rejected: readonly Rejected[];
}

interface BucketDeps extends IntakeDeps {
  readonly records: Records<BucketRecord>;
  readonly limits: () => Pick<Limits, 'uploadBucketBytes'>;
  /** Told when uploads into a bucket begin, and when the last of them has ended. */
  readonly onActivity?: ((id: string, isRunning: boolean) => void) | undefined;
  /** Told that a bucket is about to be deleted; resolves once nobody else brings it back. */
  readonly onDelete?: ((id: string) => Promise<void>) | undefined;
}

/** Files of users: documents as markdown, media as they are. */
export class Buckets {
  readonly #deps: BucketDeps;
  readonly #intake: Intake;
  readonly #activity: Activity;

  constructor(deps: BucketDeps) {
    this.#deps = deps;
    this.#intake = new Intake(deps);
    this.#activity = new Activity(deps.onActivity);
  }

  /**
   * Takes files in, one after the other, and adds them to the bucket, which is made by its first upload. When the bucket is deleted
   * meanwhile, the signal that `uploads` got aborts: it should wait for no more of them then.
   */
  async add(
    id: string,
    uploads: (deleted: AbortSignal) => AsyncIterable<Upload>,
    signal: AbortSignal,
  ): Promise<Uploaded> {
    const running = this.#activity.begin(id);
    const deleted = running.signal;
    const whole = AbortSignal.any([signal, deleted]);
    const haul: Haul = { taken: [], rejected: [], isOverLimit: false };
    const { taken, rejected } = haul;
    const tell = (event: BucketEvent): void => this.#activity.tell(id, event);
    try {
      let size = sizeOf((await this.#deps.records.get(id))?.files ?? []);
      for await (const upload of uploads(deleted)) {
        tell({ action: 'convert', filename: cleanName(upload.filename) ?? 'file' });
        const before = taken.length;
        await this.#intake.take(id, upload, haul, tell, whole);
        deleted.throwIfAborted();
        size += sizeOf(taken.slice(before).map(({ file }) => file));
        this.#checkSize(size);
      }
      if (haul.isOverLimit && taken.length === 0) throw nothingTaken(rejected);
      return { ...(await this.#keep(id, taken, deleted)), rejected };
    } catch (error) {
      await this.#discard(id, taken).catch(() => {
        // The sweep will find them.
      });
      throw deleted.aborted ? deleted.reason : error;
    } finally {
      running.end();
    }
  }

  async get(id: string): Promise<BucketRecord> {
    const record = await this.#deps.records.get(id);
    if (record !== undefined) return record;
    // Its first upload is under way: whoever comes to watch finds the bucket.
    if (this.#activity.isRunning(id)) return { id, files: [] };
    throw new SluiceError('not_found', 'Bucket directory not found: nothing was uploaded under this id.');
  }

  /** The texts of a bucket, each between a line that names it and one that ends it. */
  async *text(record: BucketRecord): AsyncIterable<string> {
    for (const file of record.files) {
      if (file.kind !== 'text') continue;
      const text = await this.textOf(file);
      if (text !== '') yield framed(file.inner ?? file.name, text);
    }
  }

  /** One text, without white space around it. */
  async textOf(file: BucketFile): Promise<string> {
    return (await this.#intake.read(file.path)).toString('utf8').trim();
  }

  /** What happens in a bucket until no upload runs any more, or the reader leaves. */
  watch(id: string, signal: AbortSignal): AsyncIterable<BucketEvent> {
    return this.#activity.watch(id, signal);
  }

  /** What a bucket holds; ends with `done`. */
  async *events(record: BucketRecord): AsyncIterable<BucketEvent> {
    let size = 0;
    for (const file of record.files) {
      if (file.kind === 'media') {
        yield { action: 'media', filename: file.name };
        continue;
      }
      size += Buffer.byteLength(await this.textOf(file));
      yield { action: 'load', size };
    }
    yield { action: 'done', size };
  }

  /** A media file of a bucket, or its thumbnail (the file itself where there is none). */
  async media(
    id: string,
    name: string,
    form: 'original' | 'thumbnail',
  ): Promise<{ file: BucketFile; path: string } | undefined> {
    const record = await this.#deps.records.get(id);
    const file = record?.files.find((each) => each.kind === 'media' && each.name === name);
    if (file === undefined) return undefined;
    return { file, path: form === 'thumbnail' ? (file.thumbnail ?? file.path) : file.path };
  }

  open(path: string, range?: ByteRange): Promise<OpenFile | undefined> {
    return this.#deps.files.open(path, range);
  }

  /** Whether there was one, be it that its first upload was under way. */
  async delete(id: string): Promise<boolean> {
    const wasComing = this.#activity.isRunning(id);
    // Before its record goes: an upload that ends in between would make it anew.
    this.giveUpUploads(id);
    await this.#deps.onDelete?.(id);
    const record = await this.#deps.records.get(id);
    const wasThere = await deleteWithBytes(
      () => this.#deps.records.delete(id),
      () => this.#remove(record?.files ?? []),
    );
    return wasThere || wasComing;
  }

  /** The bucket is being deleted: what is under way would bring it back. */
  giveUpUploads(id: string): void {
    this.#activity.giveUp(id, wasDeleted());
  }

  /** Takes files out of their bucket, and the bucket with the last of them: what it got since they were read stays. */
  async deleteFiles({ id, files }: BucketRecord): Promise<void> {
    const paths = new Set(files.map(({ path }) => path));
    await deleteWithBytes(
      async () => {
        await this.#deps.records.update(
          id,
          (present) => present && { ...present, files: present.files.filter(({ path }) => !paths.has(path)) },
        );
        await this.#deps.records.delete(id, (present) => present.files.length === 0);
      },
      () => this.#remove(files),
    );
  }

  async #remove(files: readonly BucketFile[]): Promise<void> {
    for (const file of files) await this.#intake.remove(file);
  }

  /** Makes what was taken in part of the bucket, under names that nothing in it has yet. */
  async #keep(id: string, taken: readonly Taken[], deleted: AbortSignal): Promise<Omit<Uploaded, 'rejected'>> {
    let added: BucketFile[] = [];
    await this.#deps.records.update(id, (record) => {
      deleted.throwIfAborted();
      const present = record?.files ?? [];
      // Other uploads may have ended meanwhile.
      this.#checkSize(sizeOf(present) + sizeOf(taken.map(({ file }) => file)));
      const names = new Set(present.map((file) => file.name));
      added = taken.map(({ wanted, file }) => {
        const name = freeName(wanted, names);
        names.add(name);
        return { name, ...file };
      });
      return { id, files: [...present, ...added] };
    });
    return {
      files: added.filter((file) => file.kind === 'text').map((file) => file.name),
      media: added
        .filter((file) => file.kind === 'media')
        .map(({ name, width, height }) => ({
          name,
          ...(width === undefined || height === undefined ? {} : { width, height }),
        })),
    };
  }

  /** What is in no bucket is nobody's. Storing may have worked although it failed: a disk that answers too late. */
  async #discard(id: string, taken: readonly Taken[]): Promise<void> {
    const record = await this.#deps.records.get(id);
    const kept = new Set(record?.files.map(({ path }) => path));
    for (const { file } of taken) if (!kept.has(file.path)) await this.#intake.remove(file);
  }

  #checkSize(size: number): void {
    const { uploadBucketBytes } = this.#deps.limits();
    if (size > uploadBucketBytes) {
      throw new SluiceError('too_large', `A bucket holds at most ${uploadBucketBytes} bytes.`);
    }
  }
}

/** Beside files that were taken in, those that were not are in the answer; where there are none, that is all there is to say. */
function nothingTaken(rejected: readonly Rejected[]): SluiceError {
  const why = rejected.map(({ name, reason }) => `${name} ${reason}`).join('; ');
  return new SluiceError('invalid_field', `Nothing was taken in: ${why}.`, { param: 'files' });
}

function sizeOf(files: readonly { readonly size: number }[]): number {
  return files.reduce((sum, file) => sum + file.size, 0);
}
