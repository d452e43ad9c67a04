import { createHash } from 'node:crypto';
import { toSluiceError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { CacheRecord, Records, Stores } from '../../core/stores.ts';
import { mediaPath, nameOfAddress } from '../../media/names.ts';
import type { ClientKeys } from '../../routing/credentials.ts';

/** How long an answer is replayed. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1_000;
/** Longer answers are not kept. */
const LONGEST = 1024 * 1024;

/** What `GET create` answers: a text, or where its one picture, sound or film is. */
export type Created = { readonly text: string } | { readonly location: string };

/** Under which id the answer to this very query is kept. Whoever brings a key of his own has answers of his own. */
export function cacheId(query: Readonly<Record<string, unknown>>, keys: ClientKeys): string {
  const { apiKey, bearer } = keys;
  const own = [typeof apiKey === 'object' ? [...apiKey] : apiKey, bearer];
  const parameters = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify(['create', parameters, own]))
    .digest('hex');
}

/** An answer that was kept, and so was the file that it leads to; without a sound storage there is none. */
export async function cached(
  id: string,
  { caches, files }: Pick<Stores, 'caches' | 'files'>,
  log: Logger,
): Promise<Created | undefined> {
  try {
    const created = (await caches.get(id))?.value as Created | undefined;
    if (created === undefined || 'text' in created) return created;
    const name = nameOfAddress(created.location);
    return name !== undefined && (await files.stat(mediaPath(name))) !== undefined ? created : undefined;
  } catch (error) {
    log.warn({ error: toSluiceError(error).message }, 'a kept answer could not be read');
    return undefined;
  }
}

/** Keeps an answer. That it cannot be kept is no reason not to give it. */
export async function keep(caches: Records<CacheRecord>, id: string, value: Created, log: Logger): Promise<void> {
  if ('text' in value && value.text.length > LONGEST) return;
  try {
    await caches.put({ id, expires: Date.now() + KEPT_MS, value });
  } catch (error) {
    log.warn({ error: toSluiceError(error).message }, 'an answer could not be kept');
  }
}
