import { sendChunks, withCall } from '../answer.ts';
import type { Handler } from '../deps.ts';
import { validate } from '../validate.ts';
import { sendResponse } from './asking.ts';
import { sendAlong } from './background.ts';
import { chunksOf, type Kept, replayOf } from './run.ts';
import { notFound, type ResponseDeps, running, stored } from './store.ts';
import { ResponsesStream } from './stream.ts';
import { ENCRYPTED, included, type Json, RetrieveQuery } from './wire.ts';

/** `GET responses/<id>`: the answer as far as it has come, or its events, those still to come included. */
export function retrieveResponse(deps: ResponseDeps): Handler {
  return async (request, reply) => {
    const { id } = request.params as { id: string };
    // An empty `starting_after` is a count that was lost, and not the beginning.
    const query = validate(RetrieveQuery, request.query, 'invalid_field', 'query');
    const encrypted = included(query).has(ENCRYPTED);
    const run = running(deps, id);
    const wantsEvents = query.stream === 'true' || query.stream === '1';
    const startingAfter = query.starting_after ?? -1;
    if (run !== undefined) {
      if (wantsEvents) return sendAlong(request, reply, run, startingAfter, deps);
      const stream = new ResponsesStream(run.kept.head, { ending: run.ending });
      if (run.kept.chunks.length > 0) stream.encode(run.kept.chunks);
      return sendResponse(reply, stream.response(encrypted));
    }
    const kept = await stored(deps, id);
    if (kept === undefined) throw notFound(id);
    if (!wantsEvents) return sendResponse(reply, wholeOf(kept, encrypted));
    return withCall(request, reply, deps, {}, (call) =>
      sendChunks(reply, all(kept), replayOf(kept, { startingAfter }), {}, deps, call),
    );
  };
}

/** A stored answer as clients get it. */
export function wholeOf(kept: Kept, encrypted: boolean): Json {
  const stream = replayOf(kept, { startingAfter: Number.POSITIVE_INFINITY });
  stream.encode(chunksOf(kept));
  return stream.response(encrypted || kept.head.isEncrypted);
}

async function* all(kept: Kept) {
  yield chunksOf(kept);
}
