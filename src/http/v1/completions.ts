import type { CallScope } from '../../core/call.ts';
import { SluiceError, toSluiceError } from '../../core/errors.ts';
import { withoutKey } from '../../routing/credentials.ts';
import type { Target } from '../../routing/select.ts';
import { answerHeaders, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import type { JsonBody } from '../edge/json-body.ts';
import { inNames } from '../field-names.ts';
import { timed } from '../perform.ts';
import { sendEvents } from '../send-events.ts';
import { askedOf, bodyFor, callOf } from '../task-fields.ts';
import { validate } from '../validate.ts';
import { CompletionBody } from './completion-body.ts';
import { completeByChat, encodeEvents, encodeWhole } from './completions-by-chat.ts';

/** What a chat calls otherwise than this API does. */
const FIELD_NAMES = { messages: 'prompt', max_completion_tokens: 'max_tokens' };

type Answer =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'events'; readonly events: AsyncIterable<Buffer | string> };

/**
 * `POST completions`: by the upstream's own API of that name where it has one, byte for byte; by a chat otherwise, in which the
 * prompt is the only message.
 */
export function completions(deps: Deps): Handler {
  return (request, reply) => {
    const json = request.body as JsonBody;
    const body = validate(CompletionBody, json.value, 'invalid_field');
    return withCall(request, reply, deps, callOf(body), async (call) => {
      const performed = deps.router.perform(askedOf(request, body), call, async (target, scope) => {
        const own = await ownCompletion(target, json, body, scope, deps);
        return own ?? byChat(target, body, scope, deps);
      });
      const answered = await inNames(FIELD_NAMES, performed);
      const headers = answerHeaders(answered);
      const { value } = answered;
      if (value.kind === 'events') return sendEvents(reply, value.events, headers, deps, call);
      reply.headers(headers).header('content-type', 'application/json; charset=utf-8').send(value.bytes);
      return undefined;
    });
  };
}

/** Undefined where the provider has no such API, so that a chat has to do. */
async function ownCompletion(
  { provider, model }: Target,
  json: JsonBody,
  body: CompletionBody,
  scope: CallScope,
  deps: Deps,
): Promise<Answer | undefined> {
  if (provider.complete === undefined) return undefined;
  const { firstByteMs } = deps.config().limits;
  const late = new SluiceError('upstream_timeout', `The provider has not begun to answer within ${firstByteMs} ms.`);
  const deadline = deps.deadlines.start(firstByteMs, () => scope.cancel(late));
  const stream = body.stream === true;
  try {
    const relayed = await provider.complete({ model, body: bodyFor(json, model), stream }, scope);
    if (relayed.kind === 'events') return { kind: 'events', events: timed(relayed.events, deps, scope) };
    scope.release();
    return relayed;
  } catch (thrown) {
    const error = toSluiceError(scope.cancelled ?? thrown);
    if (error.code === 'not_supported' && provider.chat !== undefined) return undefined;
    throw error;
  } finally {
    deadline.clear();
  }
}

async function byChat(target: Target, body: CompletionBody, scope: CallScope, deps: Deps): Promise<Answer> {
  try {
    const completion = await completeByChat(body, target, scope, deps);
    if (body.stream === true) {
      return { kind: 'events', events: ending(encodeEvents(completion, body), scope) };
    }
    const whole = await encodeWhole(completion, body);
    scope.release();
    return { kind: 'whole', bytes: Buffer.from(JSON.stringify(whole)) };
  } catch (error) {
    // The other choices of the same answer end for the same reason.
    scope.cancel(error instanceof Error ? error : undefined);
    throw error;
  }
}

async function* ending(events: AsyncIterable<string>, scope: CallScope): AsyncGenerator<string, void> {
  try {
    yield* events;
  } catch (error) {
    throw withoutKey(error, scope.credentials);
  } finally {
    scope.cancel();
    scope.release();
  }
}
