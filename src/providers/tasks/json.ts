import type { Call } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import type { JsonAnswer, JsonRequest } from '../../core/json-task.ts';
import { parseObject } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import type { Body } from '../../outbound/body.ts';
import { beginningOf } from '../openai/beginning.ts';
import { EventReader, looksLikeEvents } from '../openai/events.ts';
import { failureInAnswer } from '../openai/failure.ts';
import { parseAnswer, post, type TaskRequest, type TaskUpstream } from './post.ts';

/** `moderate` by the `/moderations` of OpenAI and Mistral. */
export function moderateByRelay(upstream: TaskUpstream): NonNullable<Provider['moderate']> {
  return (request, call) =>
    relayed(upstream, { deed: 'moderate', endpoint: '/moderations', body: request.body }, request, call);
}

/** `complete` by the `/completions` that OpenAI had first: Ollama, vLLM, llama.cpp and many others have it still. */
export function completeByRelay(upstream: TaskUpstream): NonNullable<Provider['complete']> {
  const deed = 'complete texts that are no conversation';
  return (request, call) => relayed(upstream, { deed, endpoint: '/completions', body: request.body }, request, call);
}

async function relayed(
  upstream: TaskUpstream,
  sent: TaskRequest,
  request: JsonRequest,
  call: Call,
): Promise<JsonAnswer> {
  const { provider, limits } = upstream;
  const { body } = await post(upstream, sent, call);
  const { answerBytes, sseLineBytes } = limits();
  if (!request.stream) {
    const bytes = await body.collect(answerBytes);
    parseAnswer(bytes, provider);
    return { kind: 'whole', bytes };
  }
  const head = await beginningOf(body, answerBytes);
  const isEvents = looksLikeEvents(head);
  if (isEvents === undefined) throw new SluiceError('upstream_cut', 'The provider ended its answer before it began.');
  if (isEvents) {
    const [first] = new EventReader(sseLineBytes).push(head);
    const failure = failureInAnswer(parseObject(first ?? '') ?? {});
    if (failure === undefined) return { kind: 'events', events: continued(head, body) };
    await body.return();
    throw failure;
  }
  // Some cannot stream every model and send the whole at once. Chunks of this format look like it.
  const bytes = Buffer.concat([head, await body.collect(answerBytes)]);
  const answer = JSON.stringify(parseAnswer(bytes, provider));
  return { kind: 'events', events: continued(Buffer.from(`data: ${answer}\n\ndata: [DONE]\n\n`)) };
}

async function* continued(head: Buffer, body?: Body): AsyncGenerator<Buffer, void> {
  try {
    yield head;
    if (body !== undefined) yield* body;
  } finally {
    await body?.return();
  }
}
