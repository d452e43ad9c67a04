import type { Chunk } from '../../core/chunk.ts';
import { SluiceError, toSluiceError } from '../../core/errors.ts';
import type { Deps } from '../deps.ts';
import { ownerNow } from '../keys.ts';
import type { KeptItem } from './items.ts';
import { chunksOf, type Kept, type Run, type Runs, replayOf } from './run.ts';
import type { Json } from './wire.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Answers that were kept on so lately are not written again. */
const KEPT_ON_EVERY_MS = 60 * 60 * 1_000;

/** What handlers of this format work with. */
export interface ResponseDeps extends Deps {
  readonly runs: Runs;
}

/** Whether anything is kept at all. */
export function keepsAnswers(deps: Deps): boolean {
  return deps.config().limits.keptResponses > 0;
}

/** Writes an answer. It is on disk when the promise resolves. Throws `storage_failed`. */
export async function keep(deps: Deps, kept: Kept, owner: string | null): Promise<void> {
  await deps.stores.responses.put({ id: kept.head.id, owner, expires: expiryNow(deps), body: kept as unknown as Json });
}

/**
 * Keeps answers for as long as one of now, since somebody goes on from them: a conversation must not lose its beginning while it
 * lasts. Never throws: where nothing can be written, they stay for as long as they would have.
 */
export async function keepOn(deps: Deps, ids: readonly string[]): Promise<void> {
  const expires = expiryNow(deps);
  try {
    await deps.stores.responses.prolong(ids, expires - KEPT_ON_EVERY_MS, expires);
  } catch (error) {
    deps.log.warn({ id: ids[0], error: toSluiceError(error).message }, 'answers could not be kept for longer');
  }
}

/** When an answer of now is forgotten, milliseconds since 1970. */
function expiryNow(deps: Deps): number {
  return Date.now() + deps.config().limits.keptResponseDays * DAY_MS;
}

/** Writes an answer, and says whether that worked: an answer goes out even where nothing can be stored. Never throws. */
export async function isKept(deps: Deps, kept: Kept, owner: string | null): Promise<boolean> {
  try {
    await keep(deps, kept, owner);
    return true;
  } catch (error) {
    deps.log.warn({ id: kept.head.id, error: toSluiceError(error).message }, 'an answer could not be stored');
    return false;
  }
}

/** A stored answer of the caller's. */
export async function stored(deps: Deps, id: string): Promise<Kept | undefined> {
  if (!/^resp_[0-9a-f]{48}$/.test(id)) return undefined;
  const record = await deps.stores.responses.get(id);
  if (record === undefined || !isMine(deps, record.owner)) return undefined;
  return record.body as unknown as Kept;
}

/** An answer of the caller's that is being made. */
export function running(deps: ResponseDeps, id: string): Run | undefined {
  const run = deps.runs.get(id);
  return run !== undefined && isMine(deps, run.owner) ? run : undefined;
}

/** Whether the caller may see what has this owner; null: it was kept while there was no access key, for anybody. */
export function isMine(deps: Deps, owner: string | null): boolean {
  return owner === null || owner === ownerNow(deps.config());
}

/** Also for one that is somebody else's. */
export function notFound(id: string): SluiceError {
  return new SluiceError(
    'not_found',
    `There is no answer '${id.slice(0, 100)}'. It may have been deleted, have expired, or never have been stored.`,
    { param: 'response_id' },
  );
}

/**
 * What an answer said, without what no model takes back where the answer was cut: half a call, and thoughts that led to
 * nothing.
 */
export function saidWhole(kept: Kept): readonly KeptItem[] {
  const said = outputOf(kept);
  if (!chunksOf(kept).some(isCut)) return said;
  const whole = said.filter(({ item }) => !(CALLS.has(item['type']) && item['status'] !== 'completed'));
  return whole.some(({ item }) => item['type'] !== 'reasoning') ? whole : [];
}

/** Whether an answer with this chunk was cut: at its limit, by a failure, or by who stopped it. */
function isCut(chunk: Chunk): boolean {
  return chunk.type === 'finish' ? CUT.has(chunk.finish) : chunk.type === 'error' || chunk.type === 'auth';
}

const CUT: ReadonlySet<string> = new Set(['length', 'content_filter']);
const CALLS: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call']);

/** What an answer said, as items. */
export function outputOf(kept: Kept): readonly KeptItem[] {
  const replay = replayOf(kept, { startingAfter: Number.POSITIVE_INFINITY });
  replay.encode(chunksOf(kept));
  return replay.items;
}
