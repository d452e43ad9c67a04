import { randomUUID } from 'node:crypto';
import type { Limits } from '../config/config.ts';
import { SluiceError, unreachable } from '../core/errors.ts';
import { mediaTypeOf } from '../core/media-types.ts';
import type { BucketFile, BucketRecord, ByteRange, Files, OpenFile, Records } from '../core/stores.ts';
import type { Conversion } from '../documents/conversion.ts';
import { Activity, type BucketEvent } from './activity.ts';
import { addressesOf, DOWNLOADS, download, type PageReader } from './downloads.ts';
import { cleanName, extensionOf, freeName } from './names.ts';

/** A file as it arrives. */
export interface Upload {
  /** As the client names it. */
  readonly filename: string;
  readonly mimeType: string;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface Rejected {
  readonly name: string;
  readonly reason: string;
}

/** What became of an upload. */
export interface Uploaded {
  /** Names of the texts. */
  readonly files: readonly string[];
  readonly media: readonly { readonly name: string; readonly width?: number; readonly height?: number }[];
  readonly rejected: readonly Rejected[];
}

/** Files → text or media; see `documents/`. */
export interface BucketConverter {
  convert(
    input: { readonly name: string; readonly bytes: Uint8Array },
    options: { readonly signal: AbortSignal },
  ): Promise<Conversion>;
}

export interface BucketDeps {
  readonly records: Records<BucketRecord>;
  readonly files: Files;
  readonly converter: BucketConverter;
  /** Reads the addresses of an uploaded `downloads.json`. */
  readonly pages: PageReader;
  readonly limits: () => Pick<Limits, 'uploadFileBytes' | 'uploadBucketBytes'>;
}

/** A file that was taken in but does not belong to its bucket yet. */
interface Taken {
  readonly wanted: string;
  readonly file: Omit<BucketFile, 'name'>;
}

/** Files of users: documents as markdown, media as they are. */
export class Buckets {
  readonly #deps: BucketDeps;
  readonly #activity = new Activity();

  constructor(deps: BucketDeps) {
    this.#deps = deps;
  }

  /** Takes files in, one after the other, and adds them to the bucket, which is made by its first upload. */
  async add(id: string, uploads: AsyncIterable<Upload>, signal: AbortSignal): Promise<Uploaded> {
    const done = this.#activity.begin(id);
    const taken: Taken[] = [];
    const rejected: Rejected[] = [];
    try {
      let size = sizeOf((await this.#deps.records.get(id))?.files ?? []);
      for await (const upload of uploads) {
        this.#activity.tell(id, { action: 'convert', filename: cleanName(upload.filename) ?? 'file' });
        const before = taken.length;
        await this.#take(id, upload, signal, taken, rejected);
        size += sizeOf(taken.slice(before).map(({ file }) => file));
        this.#checkSize(size);
      }
      return { ...(await this.#keep(id, taken)), rejected };
    } catch (error) {
      // What is in no bucket is nobody's.
      for (const { file } of taken) await this.#remove(file);
      throw error;
    } finally {
      done();
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
      if (text !== '') yield `<!-- File: ${file.name} -->\n${text}\n<!-- End -->\n\n`;
    }
  }

  /** One text, without white space around it. */
  async textOf(file: BucketFile): Promise<string> {
    const opened = await this.#deps.files.open(file.path);
    if (opened === undefined) return '';
    const pieces: Uint8Array[] = [];
    for await (const piece of opened.body) pieces.push(piece);
    return Buffer.concat(pieces).toString('utf8').trim();
  }

  /** What happens in a bucket while uploads are converted, then what it holds; ends with `done`. */
  async *events(id: string, signal: AbortSignal): AsyncIterable<BucketEvent> {
    await this.get(id);
    yield* this.#activity.watch(id, signal);
    let size = 0;
    for (const file of (await this.get(id)).files) {
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

  /** Whether there was one. */
  async delete(id: string): Promise<boolean> {
    const record = await this.#deps.records.get(id);
    const existed = await this.#deps.records.delete(id);
    for (const file of record?.files ?? []) await this.#remove(file);
    return existed;
  }

  async #take(id: string, upload: Upload, signal: AbortSignal, taken: Taken[], rejected: Rejected[]): Promise<void> {
    const name = nameOf(upload);
    if (name === undefined) {
      for await (const _ of upload.body); // read to the end, so that the next part can come
      rejected.push({ name: upload.filename.slice(0, 255), reason: 'it has no usable name' });
      return;
    }
    const spool = `uploads/${randomUUID()}`;
    await this.#deps.files.write(spool, limited(upload.body, this.#deps.limits().uploadFileBytes));
    try {
      const bytes = await this.#read(spool);
      const addresses = name.toLowerCase() === DOWNLOADS ? addressesOf(bytes.toString('utf8')) : undefined;
      if (addresses !== undefined) {
        const found = await download(addresses, this.#deps.pages, signal, (count) =>
          this.#activity.tell(id, { action: 'download', count }),
        );
        for (const page of found.downloaded) {
          taken.push(await this.#storeText(id, cleanName(encodeURI(page.name)) ?? 'page.md', page.text));
        }
        rejected.push(...found.rejected);
        return;
      }
      const conversion = await this.#deps.converter.convert({ name, bytes }, { signal });
      await this.#store(id, name, bytes, conversion, taken, rejected);
    } finally {
      await this.#deps.files.delete(spool);
    }
  }

  async #store(
    id: string,
    name: string,
    bytes: Buffer,
    conversion: Conversion,
    taken: Taken[],
    rejected: Rejected[],
  ): Promise<void> {
    switch (conversion.kind) {
      case 'markdown':
        taken.push(await this.#storeText(id, `${name}.md`, conversion.text));
        return;
      case 'text':
        taken.push(await this.#storeText(id, name, conversion.text));
        return;
      case 'archive':
        for (const entry of conversion.entries) {
          const inner = `${name}_${cleanName(entry.path.replaceAll('/', '_')) ?? 'file'}`;
          taken.push(await this.#storeText(id, entry.kind === 'markdown' ? `${inner}.md` : inner, entry.text));
        }
        rejected.push(
          ...conversion.rejected.map((each) => ({ name: `${name}/${each.name.slice(0, 255)}`, reason: each.reason })),
        );
        return;
      case 'image':
        taken.push({ wanted: name, file: await this.#storeMedia(id, name, bytes, conversion) });
        return;
      case 'audio':
      case 'video':
        taken.push({ wanted: name, file: await this.#storeMedia(id, name, bytes, { mimeType: conversion.mimeType }) });
        return;
      case 'rejected':
        rejected.push({ name, reason: conversion.reason });
        return;
      default:
        unreachable(conversion);
    }
  }

  async #storeMedia(
    id: string,
    name: string,
    bytes: Buffer,
    media: {
      readonly mimeType: string;
      readonly width?: number;
      readonly height?: number;
      readonly thumbnail?: { readonly bytes: Uint8Array };
    },
  ): Promise<Omit<BucketFile, 'name'>> {
    const { mimeType, width, height, thumbnail } = media;
    const { path, size } = await this.#deps.files.write(
      `buckets/${id}/${randomUUID()}${/^\.[a-z0-9]{1,8}$/.exec(extensionOf(name))?.[0] ?? ''}`,
      [bytes],
    );
    const small =
      thumbnail === undefined
        ? undefined
        : await this.#deps.files.write(`buckets/${id}/${randomUUID()}.webp`, [thumbnail.bytes]);
    return {
      kind: 'media',
      path,
      size,
      mimeType,
      ...(width === undefined || height === undefined ? {} : { width, height }),
      ...(small === undefined ? {} : { thumbnail: small.path }),
    };
  }

  async #storeText(id: string, wanted: string, text: string): Promise<Taken> {
    const bytes = Buffer.from(`${text.trimEnd()}\n`);
    const { path, size } = await this.#deps.files.write(`buckets/${id}/${randomUUID()}.md`, [bytes]);
    return { wanted, file: { kind: 'text', path, size, mimeType: 'text/markdown' } };
  }

  /** Makes what was taken in part of the bucket, under names that nothing in it has yet. */
  async #keep(id: string, taken: readonly Taken[]): Promise<Omit<Uploaded, 'rejected'>> {
    let added: BucketFile[] = [];
    await this.#deps.records.update(id, (record) => {
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

  #checkSize(size: number): void {
    const { uploadBucketBytes } = this.#deps.limits();
    if (size > uploadBucketBytes) {
      throw new SluiceError('too_large', `A bucket holds at most ${uploadBucketBytes} bytes.`);
    }
  }

  async #read(path: string): Promise<Buffer> {
    const opened = await this.#deps.files.open(path);
    const pieces: Uint8Array[] = [];
    for await (const piece of opened?.body ?? []) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async #remove(file: Pick<BucketFile, 'path' | 'thumbnail'>): Promise<void> {
    await this.#deps.files.delete(file.path);
    if (file.thumbnail !== undefined) await this.#deps.files.delete(file.thumbnail);
  }
}

/** Browsers send pasted media without a name, or as `blob`. */
function nameOf(upload: Upload): string | undefined {
  const name = cleanName(upload.filename);
  if (name !== undefined && name !== 'blob') return name;
  const extension = EXTENSIONS.get(upload.mimeType.toLowerCase());
  return extension === undefined ? name : `file.${extension}`;
}

/** Media type → the extension it is stored with, also under the other names that browsers have for it. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ...[
    'jpg',
    'png',
    'gif',
    'webp',
    'wav',
    'mp3',
    'flac',
    'opus',
    'ogg',
    'm4a',
    'mkv',
    'webm',
    'mp4',
    'mov',
    'avi',
    'ogv',
    'mpg',
  ].map((extension) => [mediaTypeOf(`x.${extension}`)?.mimeType ?? '', extension] as const),
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/vnd.wave', 'wav'],
  ['audio/x-m4a', 'm4a'],
  ['audio/mp3', 'mp3'],
  ['audio/x-flac', 'flac'],
]);

function sizeOf(files: readonly { readonly size: number }[]): number {
  return files.reduce((sum, file) => sum + file.size, 0);
}

async function* limited(body: AsyncIterable<Uint8Array>, limit: number): AsyncIterable<Uint8Array> {
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > limit) throw new SluiceError('too_large', `A file has at most ${limit} bytes.`);
    yield piece;
  }
}
