import OpenAI from 'openai';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import type { Gateway } from '../support/gateway.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { startResponsesUpstream } from '../support/responses-upstream.ts';
import type { VendorAnswer, VendorRequest, VendorScript } from '../support/vendor-script.ts';
import { startGatewayBefore } from './gateway-before.ts';

/** The wire formats behind the gateway. */
export const FORMATS = ['openai', 'anthropic', 'google', 'openai-responses'] as const;
export type Format = (typeof FORMATS)[number];

/** A model that thinks, sees and calls tools, as a client names it. */
const MODELS: Readonly<Record<Format, string>> = {
  openai: 'acme/test-model',
  anthropic: 'claude/claude-sonnet-4-5',
  google: 'gemini/gemini-2.5-flash',
  'openai-responses': 'responses/gpt-5.2',
};

interface Arrived extends VendorRequest {
  readonly closed: Promise<'finished' | 'aborted'>;
}

/** One upstream as a test plays it. */
export interface Seat {
  readonly format: Format;
  readonly model: string;
  /** What it answers from now on; what has arrived before is forgotten. */
  answers(answer: VendorAnswer | VendorScript): void;
  readonly arrived: readonly Arrived[];
  /** The last question. Throws when there is none. */
  readonly last: Arrived;
}

export interface World {
  readonly client: OpenAI;
  readonly gateway: Gateway;
  seat(format: Format): Seat;
  close(): Promise<void>;
}

const hello: VendorScript = () => ({ text: ['Hello', ' world'] });

/** One gateway before an upstream of each wire format. `yaml` goes after the providers. */
export async function openWorld(yaml = '', apiKey = 'secret'): Promise<World> {
  const scripts = new Map<Format, VendorScript>();
  const script =
    (format: Format): VendorScript =>
    (request) =>
      (scripts.get(format) ?? hello)(request);
  const upstreams = {
    openai: await startOpenAiUpstream(script('openai')),
    anthropic: await startAnthropicUpstream(script('anthropic')),
    google: await startGeminiUpstream(script('google')),
    'openai-responses': await startResponsesUpstream(script('openai-responses')),
  };
  const { gateway, close } = await startGatewayBefore(
    Object.values(upstreams),
    `
providers:
  acme: { kind: openai, baseUrl: '${upstreams.openai.baseUrl}', apiKey: acme-key }
  claude: { kind: anthropic, baseUrl: '${upstreams.anthropic.baseUrl}', apiKey: claude-key }
  gemini: { kind: google, baseUrl: '${upstreams.google.baseUrl}', apiKey: gemini-key }
  responses: { kind: openai-responses, baseUrl: '${upstreams['openai-responses'].baseUrl}', apiKey: responses-key }
${yaml}`,
  );
  const starts = new Map<Format, number>();
  const arrived = (format: Format): readonly Arrived[] =>
    upstreams[format].requests.slice(starts.get(format) ?? 0).filter(({ method }) => method === 'POST');
  return {
    client: new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey, maxRetries: 0 }),
    gateway,
    seat: (format) => ({
      format,
      model: MODELS[format],
      answers(answer) {
        starts.set(format, upstreams[format].requests.length);
        scripts.set(format, typeof answer === 'function' ? answer : () => answer);
      },
      get arrived() {
        return arrived(format);
      },
      get last() {
        const last = arrived(format).at(-1);
        if (last === undefined) throw new Error(`nothing arrived at the ${format} upstream`);
        return last;
      },
    }),
    close,
  };
}

/** Everything that a stream brings. */
export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** The answer that ends a stream. */
export function lastOf(events: readonly ResponseStreamEvent[]): Response {
  const last = events.at(-1);
  if (last === undefined || !('response' in last)) throw new Error(`the stream ends with ${last?.type}`);
  return last.response;
}

/** The events of one type. */
export function of<Type extends ResponseStreamEvent['type']>(
  events: readonly ResponseStreamEvent[],
  type: Type,
): Extract<ResponseStreamEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<ResponseStreamEvent, { type: Type }> => event.type === type);
}
