import { dayOf } from '../core/days.ts';
import { cautiousNow } from '../core/file-age.ts';
import type { Stores } from '../core/stores.ts';
import { forgetDaysBefore } from '../observe/insights.ts';
import { removeExpired } from '../uploads/uploads.ts';

const DAY_MS = 24 * 60 * 60_000;

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
