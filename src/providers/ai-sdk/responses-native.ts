import { z } from 'zod';
import type { ProviderConfig } from '../../config/config.ts';
import { SluiceError } from '../../core/errors.ts';
import { answeringOf, EventTranslator } from './answering.ts';
import type { Connection } from './connection.ts';
import type { NativeApi } from './native.ts';
import { toResponsesBody } from './responses-body.ts';
import { ResponseEvents, toUsage } from './responses-events.ts';
import { wholeOf } from './vendor-answer.ts';

/** Whose Responses API runs tools of its own: OpenAI's, Azure's and xAI's. */
const HOSTS = /^api\.openai\.com$|\.(?:openai|services\.ai)\.azure\.com$|^api\.x\.ai$/;
const USUAL_BASE_URL = 'https://api.openai.com/v1';

/**
 * Whether a provider gets requests of the Responses API as clients wrote them. Other servers of that API (vLLM, LM Studio, Ollama)
 * know functions only, and refuse what else clients send; the operator may say otherwise.
 */
export function runsHostedTools({ hostedTools, baseUrl = USUAL_BASE_URL }: ProviderConfig): boolean {
  return hostedTools ?? HOSTS.test(new URL(baseUrl).hostname);
}

/**
 * OpenAI's Responses API for clients of that API. The vendor's library knows the tools that run there by half, and nothing of what it
 * does not know would come through. Nothing is stored there: the conversation is sent each time.
 */
export const responsesApi: NativeApi = {
  format: 'responses',
  isFor: runsHostedTools,

  async open(request, connection, { speaker, drop, signal, eventBytes }) {
    const response = await connection.fetch(`${connection.baseUrl}/responses`, {
      method: 'POST',
      headers: headersOf(connection, 'text/event-stream'),
      body: JSON.stringify({ ...toResponsesBody(request, drop), stream: true, store: false }),
      signal,
    });
    if (response.body === null) {
      throw new SluiceError('upstream_cut', `${speaker.label} ended its answer before it began.`);
    }
    return {
      answering: answeringOf(response.body, new EventTranslator(new ResponseEvents(speaker), eventBytes)),
      headers: Object.fromEntries(response.headers),
    };
  },

  async countTokens(request, connection, { drop, signal }) {
    const body = toResponsesBody(request, drop);
    const response = await connection.fetch(`${connection.baseUrl}/responses/input_tokens`, {
      method: 'POST',
      headers: headersOf(connection, 'application/json'),
      // The endpoint refuses what says nothing about the prompt.
      body: JSON.stringify(Object.fromEntries(Object.entries(body).filter(([name]) => COUNTED_FIELDS.has(name)))),
      signal,
    });
    return Count.parse(await response.json()).input_tokens;
  },

  async compact(request, connection, { speaker, drop, signal }, limit) {
    // Nothing can be included here, and the endpoint refuses the field.
    const { include: _, ...body } = toResponsesBody(request, drop);
    const response = await connection.fetch(`${connection.baseUrl}/responses/compact`, {
      method: 'POST',
      headers: headersOf(connection, 'application/json'),
      body: JSON.stringify(body),
      signal,
    });
    const answer = Compacted.parse(JSON.parse((await wholeOf(response, speaker, limit, signal)).toString('utf8')));
    return { answer, ...(answer.usage == null ? {} : { usage: toUsage(answer.usage) }) };
  },
};

/** https://platform.openai.com/docs/api-reference/responses/input-tokens */
const COUNTED_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'truncation',
]);

const Count = z.object({ input_tokens: z.number() });

/** It goes to the client as it is. */
const Compacted = z.looseObject({ output: z.array(z.unknown()), usage: z.looseObject({}).nullish() });

function headersOf({ apiKey, headers }: Connection, accept: string): Headers {
  const all = new Headers({ 'content-type': 'application/json', ...headers, accept });
  if (apiKey !== '') all.set('authorization', `Bearer ${apiKey}`);
  return all;
}
