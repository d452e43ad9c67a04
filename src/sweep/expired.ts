import { DAY_MS, dayOf } from '../core/days.ts';
import { cautiousNow } from '../core/file-age.ts';
import { Removals } from '../core/removals.ts';
import type { Stores } from '../core/stores.ts';
import { forgetDaysBefore } from '../observe/insights.ts';
import { removeExpired } from '../uploads/uploads.ts';

/** Whatever may expire. */
export interface ExpiryDeps extends Pick<Stores, 'files' | 'uploads'> {
  readonly caches: Pick<Stores['caches'], 'forgetExpired' | 'deleteBetween'>;
  readonly responses: Pick<Stores['responses'], 'forgetExpired'>;
  readonly usage: Pick<Stores['usage'], 'forgetBefore'>;
  readonly requests: { forgetOld(): Promise<number> };
  /** Days for which usage is kept; 0: for ever. */
  readonly usageDays: () => number;
  readonly now?: () => number;
}

/**
 * Removes whatever has expired, though nothing else of its kind is stored any more. Returns how many there were; throws when some
 * are still there, once all others are gone.
 */
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
  const removals = new Removals();
  // Files first: on a full disk they make the room that the end of a record needs.
  await removals.add(() => removeAllExpired({ records: uploads, files }, at));
  await removals.add(() => caches.forgetExpired(at));
  await removals.add(() => responses.forgetExpired(at));
  await removals.add(() => requests.forgetOld());
  const days = usageDays();
  if (days > 0) {
    const first = dayOf(cautiousNow() - days * DAY_MS);
    await removals.add(() => usage.forgetBefore(first));
    await removals.add(() => forgetDaysBefore(caches, first));
  }
  return removals.end();
}

async function removeAllExpired(uploads: Parameters<typeof removeExpired>[0], at: number): Promise<number> {
  let count = 0;
  for (;;) {
    const some = await removeExpired(uploads, at);
    if (some === 0) return count;
    count += some;
  }
}
