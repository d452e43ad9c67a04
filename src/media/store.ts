import { boundedCache } from '../core/bounded-cache.ts';
import { decodeDataUri, isDataUri } from '../core/data-uri.ts';
import { SluiceError } from '../core/errors.ts';
import type { MediaType } from '../core/media-types.ts';
import { collectBytes } from '../core/pieces.ts';
import type { Files } from '../core/stores.ts';
import type { GuardedFetch } from '../outbound/guarded-fetch.ts';
import { Gate } from './gate.ts';
import { kindOf, type MediaKind } from './kind.ts';
import { type MediaFinder, mediaFinder } from './media-finder.ts';
import { MediaIndex } from './media-index.ts';
import {
  MEDIA_FOLDER,
  type MediaAbout,
  mediaAddress,
  mediaName,
  mediaPath,
  nameOfStored,
  readMediaName,
  thumbnailPath,
  WORDS_FOLDER,
  wordsAbout,
  wordsPath,
} from './names.ts';
import { type Picture, readPicture } from './picture.ts';
import { type Spooled, spool } from './spool.ts';

/** What servers call media, or leave open; the bytes decide. */
const TYPES = ['image/', 'audio/', 'video/', 'application/octet-stream', 'binary/octet-stream', 'application/ogg', ''];

/** Of what an answer holds inline; what is fetched has `limits.fetchBytes`. */
const MOST_INLINE_BYTES = 64 * 1024 * 1024;
/** At the same time. A picture's pixels may all be in memory while it is made small. */
const DOWNLOADS = 16;
const PICTURES = 1;

/** Words to be written later, while the disk is full. Those beyond them are found until the next start. */
const MOST_UNWRITTEN = 1_000;

const EARLIEST = Date.UTC(2000, 0, 1) / 1_000;
const DAY = 86_400;

/** A kept file. `size` is in bytes, width and height in pixels. */
export interface SavedMedia extends MediaType {
  readonly name: string;
  /** `/media/<name>`, as it stands in addresses. */
  readonly path: string;
  readonly size: number;
  /** Of pictures, as they are to be shown. */
  readonly width?: number;
  readonly height?: number;
}

interface LoadedMedia extends MediaType {
  readonly bytes: Buffer;
}

/** How something is had from outside, and what is written down with it. */
export interface SaveOptions extends MediaAbout {
  readonly signal?: AbortSignal;
  /** The provider's own origin may be anywhere. */
  readonly allowedOrigins?: readonly string[];
}

/** Media that Sluice keeps and serves. */
export interface MediaStore extends MediaFinder {
  /**
   * Keeps bytes, what a `data:` URI holds, or what an address outside leads to. The same content is kept once, and found by all
   * words with which it came. Throws `SluiceError` when it cannot be had or is none of the media types of the contract.
   */
  save(source: Uint8Array | string, options?: SaveOptions): Promise<SavedMedia>;
  /** The bytes of the same, which are not kept. */
  load(source: string, options?: Omit<SaveOptions, keyof MediaAbout>): Promise<LoadedMedia>;
  /** Whether there was one. */
  delete(name: string): Promise<boolean>;
  /** Another process has changed something. */
  noticed(change: MediaChange): Promise<void>;
}

/** What becomes of a kept file. */
export interface MediaChange {
  readonly name: string;
  /** It was stored at this time, in milliseconds since 1970. */
  readonly modified?: number;
  /** It came again with these words, and is found by them, too. Neither: it was deleted. */
  readonly words?: string;
}

/** Told of changes, so that other processes know of them. */
export type MediaNews = (change: MediaChange) => Promise<void>;

/** Media in `files`; what lies outside is had with `fetch`. */
export function createMediaStore(
  files: Files,
  fetch: GuardedFetch,
  now: () => number = Date.now,
  news?: MediaNews,
): MediaStore {
  const downloads = new Gate(DOWNLOADS);
  const pictures = new Gate(PICTURES);
  const saving = new Map<string, Promise<SavedMedia>>();
  /** Words that are known, but for which the disk had no place: they are written when they come again. */
  const unwritten = boundedCache<string, true>(MOST_UNWRITTEN);
  let built: Promise<MediaIndex> | undefined;

  /** Built at first use; a failure is not kept. */
  function index(): Promise<MediaIndex> {
    built ??= buildIndex(files).catch((error) => {
      built = undefined;
      throw error;
    });
    return built;
  }

  async function keep(source: Uint8Array | string, options: SaveOptions): Promise<SavedMedia> {
    const { body, seconds } = await openSource(source, options, fetch, now);
    const spooled = await spool(body);
    try {
      const kind = kindOf(spooled.head);
      if (kind === undefined) {
        throw new SluiceError('upstream_invalid', 'It is no image, audio or video of a type that Sluice keeps.');
      }
      // Two at once with the same content: the second waits for the first.
      const running = saving.get(spooled.sha256);
      if (running !== undefined) {
        const saved = await running;
        await findBy(wordsAbout(options), saved.name);
        return saved;
      }
      const work = store(spooled, kind, seconds, options);
      saving.set(spooled.sha256, work);
      return await work.finally(() => saving.delete(spooled.sha256));
    } finally {
      await spooled.discard();
    }
  }

  async function read(source: string, options: SaveOptions): Promise<LoadedMedia> {
    const { body } = await openSource(source, options, fetch, now);
    const bytes = await collectBytes(body);
    const kind = kindOf(bytes);
    if (kind === undefined) {
      throw new SluiceError('upstream_invalid', 'It is no image, audio or video of a type that Sluice knows.');
    }
    return { kind: kind.kind, mimeType: kind.mimeType, bytes };
  }

  async function store(spooled: Spooled, kind: MediaKind, seconds: number, about: MediaAbout): Promise<SavedMedia> {
    const picture =
      kind.kind === 'image'
        ? await pictures.run(async () => readPicture(await collectBytes(spooled.pieces())))
        : undefined;
    const known = await present(spooled.sha256.slice(0, 16));
    const name = known ?? mediaName(seconds, about, spooled.sha256, kind.extension);
    if (known === undefined) {
      // The thumbnail first: whoever sees the file finds the thumbnail too.
      if (picture?.thumbnail !== undefined) await files.write(thumbnailPath(name), [picture.thumbnail]);
      const { modified } = await files.write(mediaPath(name), spooled.pieces());
      (await index()).add(name, modified);
      await news?.({ name, modified });
    } else await findBy(wordsAbout(about), name);
    return savedMedia(name, kind, spooled.size, picture);
  }

  /** Content that is kept has come with these words. */
  async function findBy(words: string, name: string): Promise<void> {
    const { hash } = readMediaName(name);
    if (hash === undefined) return;
    const isNews = (await index()).addWords(name, words);
    const path = wordsPath(hash, words);
    // The content is there, whatever becomes of these words; what is wrong with the disk is told elsewhere.
    if (isNews || unwritten.delete(path)) await files.write(path, []).catch(() => unwritten.set(path, true));
    if (isNews) await news?.({ name, words });
  }

  /** The stored file with this content, if it is still there. */
  async function present(hash: string): Promise<string | undefined> {
    const name = (await index()).withHash(hash);
    if (name === undefined) return undefined;
    return (await files.stat(mediaPath(name))) === undefined ? undefined : name;
  }

  return {
    save: (source, options = {}) => downloads.run(() => keep(source, options), options.signal),
    load: (source, options = {}) => downloads.run(() => read(source, options), options.signal),
    ...mediaFinder(files, index),
    async delete(name) {
      const { hash } = readMediaName(name);
      // Several processes may have kept the same content at once, and a name that was never there may end as another does.
      const hasWords = hash !== undefined && ((await index()).withHash(hash) ?? name) === name;
      if (hasWords) await files.delete(wordsPath(hash));
      const count = await files.delete(mediaPath(name));
      await files.delete(thumbnailPath(name));
      (await index()).delete(name);
      await news?.({ name });
      return count > 0;
    },
    async noticed({ name, modified, words }) {
      // What is not built yet will find it.
      const names = await built?.catch(() => undefined);
      if (words !== undefined) names?.addWords(name, words);
      else if (modified !== undefined) names?.add(name, modified);
      else names?.delete(name);
    },
  };
}

async function buildIndex(files: Files): Promise<MediaIndex> {
  const found: { name: string; modified: number }[] = [];
  for await (const { path, modified } of files.list(MEDIA_FOLDER)) {
    const name = path.slice(MEDIA_FOLDER.length + 1);
    if (!name.includes('/')) found.push({ name: nameOfStored(name), modified });
  }
  const index = new MediaIndex();
  index.fill(found);
  for await (const { path } of files.list(WORDS_FOLDER)) {
    const [, hash = '', words = ''] = path.split('/');
    const name = index.withHash(hash);
    if (name !== undefined) index.addWords(name, nameOfStored(words));
  }
  return index;
}

/** The bytes, and when they were made, in seconds. */
async function openSource(
  source: Uint8Array | string,
  { signal, allowedOrigins }: SaveOptions,
  fetch: GuardedFetch,
  now: () => number,
): Promise<{ body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>; seconds: number }> {
  const seconds = Math.floor(now() / 1_000);
  if (typeof source !== 'string') return { body: [source], seconds };
  if (isDataUri(source)) return { body: [decodeDataUri(source, MOST_INLINE_BYTES)], seconds };
  const fetched = await fetch(source, {
    types: TYPES,
    accept: 'image/png,image/jpeg,image/webp,image/gif;q=0.9,audio/*,video/*;q=0.8',
    ...(signal === undefined ? {} : { signal }),
    ...(allowedOrigins === undefined ? {} : { allowedOrigins }),
  });
  const told = [fetched.headers['last-modified'], fetched.headers['date']]
    .map((time) => Math.floor(Date.parse(time ?? '') / 1_000))
    .find((time) => time >= EARLIEST && time <= seconds + DAY);
  return { body: fetched.body, seconds: told ?? seconds };
}

function savedMedia(name: string, kind: MediaKind, size: number, picture: Picture | undefined): SavedMedia {
  return {
    name,
    path: mediaAddress(name),
    kind: kind.kind,
    mimeType: kind.mimeType,
    size,
    ...(picture === undefined ? {} : { width: picture.width, height: picture.height }),
  };
}
