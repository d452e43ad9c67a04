import type { Logger } from '../core/logger.ts';
import type { Stores } from '../core/stores.ts';
import { removeAbandoned } from '../uploads/resumable.ts';
import { UPLOADS_FOLDER } from '../uploads/uploads.ts';

/** Younger files may belong to an upload that is still under way, in this process or another one. */
const YOUNGEST_MS = 24 * 60 * 60_000;
/** How long after the start, and how often from then on. */
const FIRST_MS = 60_000;
const EVERY_MS = 24 * 60 * 60_000;

interface SweepDeps extends Pick<Stores, 'files'> {
  readonly buckets: Pick<Stores['buckets'], 'get'>;
  readonly uploads: Pick<Stores['uploads'], 'get'>;
  readonly now?: () => number;
}

/**
 * Removes what an upload left behind that was killed: spooled files, pieces of files, and files of buckets and of the Files
 * API that no record knows. Nobody is served any of them; they only take room. Returns how many there were.
 */
export async function sweepLeftovers({ buckets, uploads, files, now = Date.now }: SweepDeps): Promise<number> {
  const before = now() - YOUNGEST_MS;
  let { removed } = await removeAbandoned(files, now());
  for await (const { path, modified } of files.list('uploads')) {
    if (modified < before) removed += await files.delete(path);
  }
  let bucket = '';
  let known: ReadonlySet<string> = new Set();
  for await (const { path, modified } of files.list('buckets')) {
    if (modified >= before) continue;
    const [, id = ''] = path.split('/');
    // Files come folder by folder, so each record is asked for once.
    if (id !== bucket) {
      bucket = id;
      const record = await buckets.get(id);
      known = new Set(record?.files.flatMap((file) => [file.path, ...(file.thumbnail ? [file.thumbnail] : [])]));
    }
    if (!known.has(path)) removed += await files.delete(path);
  }
  for await (const { path, modified } of files.list(UPLOADS_FOLDER)) {
    const [, id = ''] = path.split('/');
    if (modified < before && (await uploads.get(id)) === undefined) removed += await files.delete(path);
  }
  return removed;
}

/** Sweeps now and then in the background, until it is stopped. */
export function sweepRegularly(deps: SweepDeps, log: Logger): { stop(): void } {
  const sweep = (): void => {
    sweepLeftovers(deps).then(
      (removed) => {
        if (removed > 0) log.info({ removed }, 'removed files of uploads that were never completed');
      },
      (error: unknown) => log.warn({ error }, 'could not remove files of uploads that were never completed'),
    );
  };
  const first = setTimeout(sweep, FIRST_MS).unref();
  const again = setInterval(sweep, EVERY_MS).unref();
  return {
    stop() {
      clearTimeout(first);
      clearInterval(again);
    },
  };
}
