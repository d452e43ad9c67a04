import { SluiceError } from '../../core/errors.ts';
import { mostBytes, sizeOf } from './bounds.ts';
import { itemsBefore } from './conversation.ts';
import type { KeptItem } from './items.ts';
import type { Kept } from './run.ts';
import { type ResponseDeps, running, saidWhole, stored } from './store.ts';

/** Answers that go on from each other. */
const LONGEST_CHAIN = 1_000;

/** All that the model got for an answer, as far as it is kept: what went before, and what its request brought. */
export async function contextOf(deps: ResponseDeps, kept: Kept): Promise<readonly KeptItem[]> {
  const before = kept.previous === null ? [] : (await historyUpTo(deps, kept.previous, 'as-kept')).items;
  return [...(await itemsBefore(deps, kept)), ...before, ...kept.input];
}

/** What went before an answer. */
export interface History {
  readonly items: readonly KeptItem[];
  /** The ids of its answers, the first one last. */
  readonly answers: readonly string[];
}

/**
 * Everything up to the end of an answer, from the beginning. `as-kept`: from where it is still there, since one that went before was
 * deleted; else that is an error.
 */
export async function historyUpTo(
  deps: ResponseDeps,
  id: string,
  wanted: 'whole' | 'as-kept' = 'whole',
): Promise<History> {
  const turns: (readonly KeptItem[])[] = [];
  const answers: string[] = [];
  const most = mostBytes(deps);
  let bytes = 0;
  for (let next: string | null = id; next !== null; ) {
    const kept: Kept | undefined = await stored(deps, next);
    const isRunning = running(deps, next) !== undefined || (kept?.over === undefined && deps.elsewhere?.has(next));
    if (isRunning === true) throw notUsable(next, 'is not complete yet: wait for its end');
    if (kept === undefined) {
      if (wanted === 'as-kept') break;
      throw notUsable(id, next === id ? MISSING : `goes on from '${next}', which ${MISSING}`);
    }
    if (answers.length >= LONGEST_CHAIN) throw notUsable(id, `has more than ${LONGEST_CHAIN} answers before it`);
    const turn = [...kept.input, ...saidWhole(kept)];
    bytes += sizeOf(turn);
    if (bytes > most) throw notUsable(id, `has more than ${most} bytes before it`);
    turns.push(turn);
    if (kept.conversation !== undefined) turns.push(await itemsBefore(deps, kept));
    answers.push(next);
    next = kept.previous;
  }
  return { items: turns.reverse().flat(), answers };
}

const MISSING = 'was not found: it was not stored, was deleted, or has expired. Send what went before in the input';

function notUsable(id: string, why: string): SluiceError {
  return new SluiceError('invalid_request', `Previous response with id '${id.slice(0, 100)}' ${why}.`, {
    param: 'previous_response_id',
  });
}
