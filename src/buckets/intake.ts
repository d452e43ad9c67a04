import { randomUUID } from 'node:crypto';
import { SluiceError, unreachable } from '../core/errors.ts';
import { extensionFor } from '../core/media-types.ts';
import { collectBytes } from '../core/pieces.ts';
import type { BucketFile, Files } from '../core/stores.ts';
import type { Conversion } from '../documents/conversion.ts';
import type { BucketEvent } from './activity.ts';
import { addressesOf, DOWNLOADS, download, type PageReader } from './downloads.ts';
import { cleanName, cleanPart, extensionOf } from './names.ts';

/** Where uploads lie until they are read, below the folder of files. */
export const SPOOL_FOLDER = 'uploads';
/** Where the files of buckets are, there too: a folder for each, of its id's name. */
export const BUCKETS_FOLDER = 'buckets';

/** A file as it arrives. */
export interface Upload {
  /** As the client names it. */
  readonly filename: string;
  readonly mimeType: string;
  /** Throws where it is larger than a file may be. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** A file that was not taken in; the reason is for its user. */
export interface Rejected {
  readonly name: string;
  readonly reason: string;
}

/** Files → text or media; see `documents/`. */
export interface BucketConverter {
  convert(
    input: { readonly name: string; readonly bytes: Uint8Array },
    options: { readonly signal: AbortSignal },
  ): Promise<Conversion>;
}

/** Where files go, and who reads them. */
export interface IntakeDeps {
  readonly files: Files;
  readonly converter: BucketConverter;
  /** Reads the addresses of an uploaded `downloads.json`. */
  readonly pages: PageReader;
}

/** A file that was taken in but does not belong to its bucket yet. */
export interface Taken {
  readonly wanted: string;
  readonly file: Omit<BucketFile, 'name'>;
}

/** What uploads have become so far. It grows file by file, so that whoever fails in the middle knows what to remove. */
export interface Haul {
  readonly taken: Taken[];
  readonly rejected: Rejected[];
  /** One of the rejected is beyond a limit. */
  isOverLimit: boolean;
}

/** Turns what arrives into the files of a bucket: text or media, in their places, but in no bucket yet. */
export class Intake {
  readonly #deps: IntakeDeps;

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
  }

  /** Takes one file in. `tell` hears what happens meanwhile. */
  async take(
    id: string,
    upload: Upload,
    haul: Haul,
    tell: (event: BucketEvent) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { taken, rejected } = haul;
    const name = nameOf(upload);
    if (name === undefined) {
      for await (const _ of upload.body); // read to the end, so that the next part can come
      const reason = cleanPart(upload.filename) === undefined ? 'has no usable name' : 'has a name that is reserved';
      rejected.push({ name: upload.filename.slice(0, 255), reason });
      return;
    }
    const spool = `${SPOOL_FOLDER}/${randomUUID()}`;
    await this.#deps.files.write(spool, upload.body);
    try {
      const bytes = await this.read(spool);
      const addresses = name.toLowerCase() === DOWNLOADS ? addressesOf(bytes.toString('utf8')) : undefined;
      if (addresses !== undefined) {
        const found = await download(addresses, this.#deps.pages, signal, (count) =>
          tell({ action: 'download', count }),
        );
        for (const page of found.downloaded) {
          taken.push(await this.#storeText(id, cleanName(encodeURI(page.name)) ?? 'page.md', page.text));
        }
        rejected.push(...found.rejected);
        return;
      }
      const conversion = await this.#deps.converter.convert({ name, bytes }, { signal });
      await this.#store(id, name, bytes, conversion, haul);
    } finally {
      await this.#deps.files.delete(spool);
    }
  }

  async #store(id: string, name: string, bytes: Buffer, conversion: Conversion, haul: Haul): Promise<void> {
    const { taken, rejected } = haul;
    switch (conversion.kind) {
      case 'markdown':
        taken.push(await this.#storeText(id, `${name}.md`, conversion.text));
        return;
      case 'text':
        taken.push(await this.#storeText(id, name, conversion.text));
        return;
      case 'archive':
        for (const entry of conversion.entries) {
          const wanted = `${name}_${cleanPart(entry.path.replaceAll('/', '_')) ?? 'file'}`;
          const inner = entry.path
            .split('/')
            .flatMap((part) => cleanPart(part) ?? [])
            .join('/');
          const named = entry.kind === 'markdown' ? `${wanted}.md` : wanted;
          taken.push(await this.#storeText(id, named, entry.text, inner === '' ? {} : { inner }));
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
        haul.isOverLimit ||= conversion.isOverLimit === true;
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
    const { path, size } = await this.#deps.files.write(`${BUCKETS_FOLDER}/${id}/${randomUUID()}${extensionOf(name)}`, [
      bytes,
    ]);
    const small =
      thumbnail === undefined
        ? undefined
        : await this.#deps.files.write(`${BUCKETS_FOLDER}/${id}/${randomUUID()}.webp`, [thumbnail.bytes]);
    return {
      kind: 'media',
      path,
      size,
      mimeType,
      ...(width === undefined || height === undefined ? {} : { width, height }),
      ...(small === undefined ? {} : { thumbnail: small.path }),
    };
  }

  async #storeText(id: string, wanted: string, text: string, more: { readonly inner?: string } = {}): Promise<Taken> {
    const bytes = Buffer.from(`${text.trimEnd()}\n`);
    const { path, size } = await this.#deps.files.write(`${BUCKETS_FOLDER}/${id}/${randomUUID()}.md`, [bytes]);
    return { wanted, file: { kind: 'text', path, size, mimeType: 'text/markdown', ...more } };
  }

  /** All of a kept file. */
  async read(path: string): Promise<Buffer> {
    const opened = await this.#deps.files.open(path);
    // Its record was read before: without it the text would seem to be whole.
    if (opened === undefined) throw wasDeleted();
    return await collectBytes(opened.body);
  }

  async remove(file: Pick<BucketFile, 'path' | 'thumbnail'>): Promise<void> {
    await this.#deps.files.delete(file.path);
    if (file.thumbnail !== undefined) await this.#deps.files.delete(file.thumbnail);
  }
}

/** 409: for an upload whose bucket went while it came. */
export function wasDeleted(): SluiceError {
  return new SluiceError('conflict', 'The bucket was deleted in the meantime.');
}

/** Browsers send pasted media without a name, or as `blob`. */
function nameOf(upload: Upload): string | undefined {
  const name = cleanName(upload.filename);
  if (name !== undefined && name !== 'blob') return name;
  const extension = extensionFor(upload.mimeType);
  return extension === undefined ? name : `file.${extension}`;
}
