import { SluiceError } from '../../core/errors.ts';
import { mostBytes, sizeOf } from './bounds.ts';
import { itemsBefore } from './conversation.ts';
import type { KeptItem } from './items.ts';
import type { Kept } from './run.ts';
import { type ResponseDeps, running, saidWhole, stored } from './store.ts';

/** Answers that go on from each other. */
const LONGEST_CHAIN = 1_000;

/** All that the model got for an answer: what went before, and what its request brought. */
export async function contextOf(deps: ResponseDeps, kept: Kept): Promise<readonly KeptItem[]> {
  const before = kept.previous === null ? [] : (await historyUpTo(deps, kept.previous)).items;
  return [...(await itemsBefore(deps, kept)), ...before, ...kept.input];
}

/** What went before an answer. */
export interface History {
  readonly items: readonly KeptItem[];
  /** The id of its first answer. */
  readonly first: string;
}

/** Everything up to the end of an answer, from the beginning. */
export async function historyUpTo(deps: ResponseDeps, id: string): Promise<History> {
  const turns: (readonly KeptItem[])[] = [];
  const most = mostBytes(deps);
  let bytes = 0;
  let first = id;
  for (let next: string | null = id; next !== null; ) {
    const kept: Kept | undefined = await stored(deps, next);
    const isRunning = running(deps, next) !== undefined || (kept?.over === undefined && deps.elsewhere?.has(next));
    if (isRunning === true) throw notUsable(next, 'is not complete yet: wait for its end');
    if (kept === undefined) throw notUsable(next, 'was not found: it was not stored, was deleted, or has expired');
    if (turns.length >= LONGEST_CHAIN) throw notUsable(id, `has more than ${LONGEST_CHAIN} answers before it`);
    const turn = [...kept.input, ...saidWhole(kept)];
    bytes += sizeOf(turn);
    if (bytes > most) throw notUsable(id, `has more than ${most} bytes before it`);
    turns.push(turn);
    if (kept.conversation !== undefined) turns.push(await itemsBefore(deps, kept));
    first = next;
    next = kept.previous;
  }
  return { items: turns.reverse().flat(), first };
}

function notUsable(id: string, why: string): SluiceError {
  return new SluiceError('invalid_request', `Previous response with id '${id.slice(0, 100)}' ${why}.`, {
    param: 'previous_response_id',
  });
}
