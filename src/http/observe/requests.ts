import { SluiceError } from '../../core/errors.ts';
import { rounded } from '../../observe/access-log.ts';
import type { Seen } from '../../observe/observation.ts';
import type { Deps, Handler } from '../deps.ts';
import { validateQuery } from '../validate.ts';
import { type LoggedRequest, RequestsQuery } from './wire.ts';

/** `GET requests`: the newest requests to models. */
export function listRequests({ observer }: Deps): Handler {
  return async (request) => {
    const query = validateQuery(RequestsQuery, request.query, 'invalid_request');
    const { entries, total, kept, next } = await observer.ledger.query(query);
    return {
      requests: entries.map(toWire),
      total,
      kept,
      next: next ?? null,
      mode: observer.mode,
    };
  };
}

/** `GET requests/<id>`: one of them, with all that is kept of it. */
export function getRequest({ observer }: Deps): Handler {
  return async (request) => {
    const { id } = request.params as { id: string };
    const entry = await observer.ledger.find(id);
    if (entry === undefined) {
      const isOff = observer.mode === 'none' ? ' The request log is switched off.' : '';
      throw new SluiceError('not_found', `There is no such request in the log, or no longer.${isOff}`, { param: 'id' });
    }
    return { ...toWire(entry), request: entry.content?.request ?? null, answer: entry.content?.answer ?? null };
  };
}

/** `DELETE requests`: forgets all of them, also on the disk. */
export function deleteRequests({ observer }: Deps): Handler {
  return async () => ({ count: await observer.ledger.clear() });
}

function toWire(seen: Seen): LoggedRequest {
  const { error, usage } = seen;
  return {
    id: seen.id,
    time: new Date(seen.time).toISOString(),
    method: seen.method,
    route: seen.route,
    dialect: seen.dialect ?? 'openai',
    operation: seen.operation ?? 'chat',
    user: seen.user,
    asked: seen.asked ?? null,
    provider: seen.provider ?? null,
    model: seen.model ?? null,
    status: seen.status,
    error: error === undefined ? null : { code: error.code, name: error.name, message: error.message ?? null },
    stream: seen.stream,
    first_chunk_ms: rounded(seen.firstChunk) ?? null,
    duration_ms: rounded(seen.duration) ?? 0,
    usage:
      usage === undefined
        ? null
        : {
            prompt_tokens: usage.promptTokens,
            completion_tokens: usage.completionTokens,
            total_tokens: usage.totalTokens,
            cached_tokens: usage.cachedTokens ?? 0,
            cache_write_tokens: usage.cacheWriteTokens ?? 0,
            reasoning_tokens: usage.reasoningTokens ?? 0,
            estimated: usage.estimated === true,
          },
    cost: seen.cost,
    attempts: seen.attempts,
    failed_attempts: seen.failures.map(({ provider, model, code, status, duration }) => ({
      provider,
      model,
      code,
      status,
      duration_ms: rounded(duration) ?? 0,
    })),
    has_content: seen.content !== undefined,
  };
}
