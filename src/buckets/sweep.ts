import { dayOf } from '../core/days.ts';
import { cautiousNow, fileAge } from '../core/file-age.ts';
import type { Logger } from '../core/logger.ts';
import type { Stores } from '../core/stores.ts';
import { pathOfPicture, THUMBNAILS_FOLDER } from '../media/names.ts';
import { forgetDaysBefore } from '../observe/insights.ts';
import { removeAbandoned } from '../uploads/resumable.ts';
import { removeExpired, UPLOADS_FOLDER } from '../uploads/uploads.ts';

/** Younger files may belong to an upload that is still under way, in this process or another one. */
const YOUNGEST_MS = 24 * 60 * 60_000;
/** How long after the start, and how often from then on. */
const FIRST_MS = 60_000;
const EVERY_MS = 24 * 60 * 60_000;
/** The same for what has expired, which is found without a look at all there is. */
const EXPIRED_EVERY_MS = 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

interface SweepDeps extends Pick<Stores, 'files'> {
  readonly buckets: Pick<Stores['buckets'], 'get'>;
  readonly uploads: Pick<Stores['uploads'], 'get'>;
  readonly age?: typeof fileAge;
}

interface ExpiryDeps extends Pick<Stores, 'files' | 'uploads'> {
  readonly caches: Pick<Stores['caches'], 'forgetExpired' | 'deleteBetween'>;
  readonly responses: Pick<Stores['responses'], 'forgetExpired'>;
  readonly usage: Pick<Stores['usage'], 'forgetBefore'>;
  readonly requests: { forgetOld(): Promise<number> };
  /** Days for which usage is kept; 0: for ever. */
  readonly usageDays: () => number;
  readonly now?: () => number;
}

/** Removes whatever has expired, though nothing else of its kind is stored any more. Returns how many there were. */
export async function forgetExpired({
  caches,
  responses,
  uploads,
  files,
  usage,
  requests,
  usageDays,
  now = cautiousNow,
}: ExpiryDeps): Promise<number> {
  const at = now();
  let count = 0;
  let some: number;
  // Files first: on a full disk they make the room that the end of a record needs.
  do {
    some = await removeExpired({ records: uploads, files }, at);
    count += some;
  } while (some > 0);
  count += (await caches.forgetExpired(at)) + (await responses.forgetExpired(at)) + (await requests.forgetOld());
  const days = usageDays();
  if (days === 0) return count;
  const first = dayOf(cautiousNow() - days * DAY_MS);
  return count + (await usage.forgetBefore(first)) + (await forgetDaysBefore(caches, first));
}

/**
 * Removes what was left behind by an upload or a deletion that was killed: spooled files, pieces of files, files of buckets and of
 * the Files API that no record knows, and thumbnails without a picture. Nobody is served any of them; they only take room. Returns how many there were.
 */
export async function sweepLeftovers({ buckets, uploads, files, age = fileAge }: SweepDeps): Promise<number> {
  const isOld = (modified: number): boolean => age(modified) > YOUNGEST_MS;
  let { removed } = await removeAbandoned(files, age);
  for await (const { path, modified } of files.list('uploads')) {
    if (isOld(modified)) removed += await files.delete(path);
  }
  removed += await sweepBuckets({ buckets, files }, isOld);
  for await (const { path, modified } of files.list(UPLOADS_FOLDER)) {
    const [, id = ''] = path.split('/');
    if (isOld(modified) && (await uploads.get(id)) === undefined) removed += await files.delete(path);
  }
  for await (const { path, modified } of files.list(THUMBNAILS_FOLDER)) {
    if (isOld(modified) && (await files.stat(pathOfPicture(path))) === undefined) removed += await files.delete(path);
  }
  return removed;
}

async function sweepBuckets(
  { buckets, files }: Pick<SweepDeps, 'buckets' | 'files'>,
  isOld: (modified: number) => boolean,
): Promise<number> {
  let removed = 0;
  let bucket = '';
  let known: ReadonlySet<string> = new Set();
  for await (const { path, modified } of files.list('buckets')) {
    if (!isOld(modified)) continue;
    const [, id = ''] = path.split('/');
    // Files come folder by folder, so each record is asked for once.
    if (id !== bucket) {
      bucket = id;
      const record = await buckets.get(id);
      known = new Set(record?.files.flatMap((file) => [file.path, ...(file.thumbnail ? [file.thumbnail] : [])]));
    }
    if (!known.has(path)) removed += await files.delete(path);
  }
  return removed;
}

/** Sweeps now and then in the background, until it is stopped. */
export function sweepRegularly(deps: SweepDeps & ExpiryDeps, log: Logger): { stop(): void } {
  const logged = (removing: Promise<number>, level: 'debug' | 'info', what: string): void => {
    removing.then(
      (removed) => {
        if (removed > 0) log[level]({ removed }, `removed ${what}`);
      },
      (error: unknown) => log.warn({ error }, `could not remove ${what}`),
    );
  };
  const forget = (): void => logged(forgetExpired(deps), 'debug', 'what has expired');
  const sweep = (): void => logged(sweepLeftovers(deps), 'info', 'files that nobody has any more');
  const both = (): void => {
    forget();
    sweep();
  };
  const first = setTimeout(both, FIRST_MS).unref();
  const again = [setInterval(forget, EXPIRED_EVERY_MS).unref(), setInterval(sweep, EVERY_MS).unref()];
  return {
    stop() {
      clearTimeout(first);
      for (const timer of again) clearInterval(timer);
    },
  };
}
