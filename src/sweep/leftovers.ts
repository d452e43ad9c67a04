import { BUCKETS_FOLDER, SPOOL_FOLDER } from '../buckets/intake.ts';
import { fileAge } from '../core/file-age.ts';
import { Removals } from '../core/removals.ts';
import type { Stores } from '../core/stores.ts';
import { MEDIA_FOLDER, pathOfPicture, readMediaName, THUMBNAILS_FOLDER, WORDS_FOLDER } from '../media/names.ts';
import { removeAbandoned } from '../uploads/resumable.ts';
import { UPLOADS_FOLDER } from '../uploads/uploads.ts';

/** Younger files may belong to an upload that is still under way, in this process or another one. In milliseconds. */
const YOUNGEST_MS = 24 * 60 * 60_000;

/** Files, and the records that know of them. */
export interface LeftoverDeps extends Pick<Stores, 'files'> {
  readonly buckets: Pick<Stores['buckets'], 'get'>;
  readonly uploads: Pick<Stores['uploads'], 'get'>;
  readonly age?: typeof fileAge;
}

/**
 * Removes what was left behind by an upload or a deletion that was killed: spooled files, pieces of files, files of buckets and of
 * the Files API that no record knows, and thumbnails and words of media that are gone. Nobody is served any of them; they only take
 * room, and such words would come back with their content. Returns how many there were; throws when some are still there, once all
 * others are gone.
 */
export async function sweepLeftovers({ buckets, uploads, files, age = fileAge }: LeftoverDeps): Promise<number> {
  const removals = new Removals();
  async function removeOld(folder: string, isLeft: (path: string) => boolean | Promise<boolean>): Promise<void> {
    for await (const { path, modified } of files.list(folder)) {
      if (age(modified) > YOUNGEST_MS && (await isLeft(path))) await removals.add(() => files.delete(path));
    }
  }
  await removals.add(async () => (await removeAbandoned(files, age)).removals.end());
  await removeOld(SPOOL_FOLDER, () => true);
  await removeOld(BUCKETS_FOLDER, unknownTo(buckets));
  await removeOld(UPLOADS_FOLDER, async (path) => (await uploads.get(idIn(path))) === undefined);
  await removeOld(THUMBNAILS_FOLDER, async (path) => (await files.stat(pathOfPicture(path))) === undefined);
  await removeOld(WORDS_FOLDER, unknownAmong(files));
  return removals.end();
}

/** Tells of paths of words whether no kept file has their content. */
function unknownAmong(files: LeftoverDeps['files']): (path: string) => Promise<boolean> {
  let kept: Set<string | undefined> | undefined;
  return async (path) => {
    if (kept === undefined) {
      kept = new Set();
      for await (const file of files.list(MEDIA_FOLDER)) kept.add(readMediaName(file.path).hash);
    }
    return !kept.has(idIn(path));
  };
}

/** Tells of paths, one after the other, whether no bucket has that file. */
function unknownTo(buckets: LeftoverDeps['buckets']): (path: string) => Promise<boolean> {
  let bucket = '';
  let known: ReadonlySet<string> = new Set();
  return async (path) => {
    const id = idIn(path);
    // Files come folder by folder, so each record is asked for once.
    if (id !== bucket) {
      bucket = id;
      const record = await buckets.get(id);
      known = new Set(record?.files.flatMap((file) => [file.path, ...(file.thumbnail ? [file.thumbnail] : [])]));
    }
    return !known.has(path);
  };
}

/** The id of the bucket or upload in whose folder a file is; of words, the digits of the content. */
function idIn(path: string): string {
  return path.split('/')[1] ?? '';
}
