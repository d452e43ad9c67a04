import { CallScope } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Handler } from '../deps.ts';
import { sendJson, sendResponse } from './asking.ts';
import { wholeOf } from './retrieve.ts';
import type { Kept, Run } from './run.ts';
import { notFound, type ResponseDeps, running, stored } from './store.ts';

/** How long the end of a cancelled answer is waited for: its client may read slowly. */
const PATIENCE_MS = 2_000;

/** `POST responses/<id>/cancel`: stops an answer that is being made; one that is over stays as it is. */
export function cancelResponse(deps: ResponseDeps): Handler {
  return async (request, reply) => {
    const { id } = request.params as { id: string };
    const run = running(deps, id);
    const kept = run === undefined ? await stored(deps, id) : await stopped(run);
    if (kept === undefined) throw notFound(id);
    return sendResponse(reply, wholeOf(kept, false));
  };
}

/** `DELETE responses/<id>`: an answer that is being made is stopped first. */
export function deleteResponse(deps: ResponseDeps): Handler {
  return async (request, reply) => {
    const { id } = request.params as { id: string };
    const run = running(deps, id);
    if (run === undefined) {
      if ((await stored(deps, id)) === undefined) throw notFound(id);
    } else {
      // Its end may be waited for in vain, and must store nothing when it comes.
      run.isDeleted = true;
      await stopped(run);
      deps.runs.delete(id);
    }
    await deps.stores.responses.delete(id);
    return sendJson(reply, { id, object: 'response', deleted: true });
  };
}

async function stopped(run: Run): Promise<Kept> {
  run.call.cancel(CANCELLED);
  const patience = new CallScope(run.id, run.call.log);
  const timer = setTimeout(() => patience.cancel(), PATIENCE_MS);
  await run.finished(patience);
  clearTimeout(timer);
  const { kept } = run;
  return kept.over === undefined ? run.endingWith([{ type: 'error', error: CANCELLED.toInfo() }]) : kept;
}

const CANCELLED = new SluiceError('cancelled', 'The answer was cancelled.');
