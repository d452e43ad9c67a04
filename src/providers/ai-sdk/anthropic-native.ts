import { z } from 'zod';
import { SluiceError } from '../../core/errors.ts';
import type { Provider } from '../../core/provider.ts';
import { answeringOf, EventTranslator } from './answering.ts';
import { toMessagesBody } from './anthropic-body.ts';
import { MessageEvents } from './anthropic-events.ts';
import type { Connection } from './connection.ts';
import { type NativeApi, type NativeProvider, speaks } from './native.ts';

/** The field of `ChatRequest.extra` that travels as a header. */
const BETA = 'anthropic-beta';

/** Whether requests of Anthropic's clients reach this provider's upstream as they are. */
export function speaksMessages(provider: Provider): provider is NativeProvider {
  return speaks(provider, 'anthropic');
}

/**
 * Anthropic's API for Anthropic's clients. The vendor's library knows a part of it only, and changes what it knows: it adds the
 * budget of thoughts to `max_tokens`, leaves out sampling beside thoughts, and hides the blocks of tools that run there.
 */
export const messagesApi: NativeApi = {
  format: 'anthropic',

  async open(request, connection, { speaker, drop, signal, eventBytes }) {
    const { [BETA]: beta, ...extra } = request.extra;
    const body = { ...toMessagesBody({ ...request, extra }, drop), stream: true };
    const response = await connection.fetch(`${connection.baseUrl}/messages`, {
      method: 'POST',
      headers: headersOf(connection, beta, 'text/event-stream'),
      body: JSON.stringify(body),
      signal,
    });
    if (response.body === null) {
      throw new SluiceError('upstream_cut', `${speaker.label} ended its answer before it began.`);
    }
    return {
      answering: answeringOf(response.body, new EventTranslator(new MessageEvents(speaker), eventBytes)),
      headers: Object.fromEntries(response.headers),
    };
  },

  async countTokens(request, connection, { drop, signal }) {
    const { [BETA]: beta, ...extra } = request.extra;
    const body = toMessagesBody({ ...request, extra }, drop);
    const response = await connection.fetch(`${connection.baseUrl}/messages/count_tokens`, {
      method: 'POST',
      headers: headersOf(connection, beta, 'application/json'),
      // The endpoint refuses what says nothing about the prompt.
      body: JSON.stringify(Object.fromEntries(Object.entries(body).filter(([name]) => COUNTED_FIELDS.has(name)))),
      signal,
    });
    return Count.parse(await response.json()).input_tokens;
  },
};

/** https://platform.claude.com/docs/en/api/messages/count_tokens */
const COUNTED_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'cache_control',
  'output_config',
  'output_format',
  'context_management',
  'mcp_servers',
  'speed',
]);

const Count = z.object({ input_tokens: z.number() });

function headersOf({ apiKey, headers }: Connection, beta: unknown, accept: string): Headers {
  const all = new Headers({
    'anthropic-version': '2023-06-01',
    'content-type': 'application/json',
    ...headers,
    accept,
  });
  if (apiKey !== '') all.set('x-api-key', apiKey);
  if (typeof beta === 'string') all.append(BETA, beta);
  return all;
}
