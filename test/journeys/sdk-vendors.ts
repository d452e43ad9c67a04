import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { isObject } from '../../src/core/objects.ts';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { startGeminiUpstream } from '../support/gemini-upstream.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { VendorAnswer, VendorRequest, VendorScript } from '../support/vendor-script.ts';
import type { VendorUpstream } from '../support/vendor-server.ts';
import { startGatewayBefore } from './gateway-before.ts';

/** The wire formats behind the gateway, and the provider that speaks each of them. */
export const FORMATS = ['openai', 'anthropic', 'google'] as const;
export type Format = (typeof FORMATS)[number];

/** A value for each format: what the same request looks like upstream. */
export type ByFormat<T> = Readonly<Record<Format, T>>;

/** A model that thinks, sees and calls tools, as a client names it. */
const MODELS: ByFormat<string> = {
  openai: 'acme/test-model',
  anthropic: 'claude/claude-sonnet-4-5',
  google: 'gemini/gemini-2.5-flash',
};

/** A request as the client's types have it. */
export type ChatBody = OpenAI.Chat.ChatCompletionCreateParams;

/** One upstream as a test plays it. */
export interface Seat {
  readonly format: Format;
  /** `provider/model`, as clients write it. */
  readonly model: string;
  /** What it answers from now on; what has arrived before is forgotten. */
  answers(answer: VendorAnswer | VendorScript): void;
  /** The questions that arrived since. */
  readonly arrived: readonly Arrived[];
  /** The last of them. Throws when there is none. */
  readonly last: Arrived;
}

export interface Arrived extends VendorRequest {
  readonly closed: Promise<'finished' | 'aborted'>;
}

export interface World {
  /** The official client, with the key that clients send when they have none, and without attempts of its own. */
  readonly client: OpenAI;
  readonly origin: string;
  seat(format: Format): Seat;
  close(): Promise<void>;
}

/** One gateway before an upstream of each wire format. `yaml` goes after the providers. */
export async function openWorld(yaml = ''): Promise<World> {
  const scripts: Record<Format, VendorScript> = { openai: hello, anthropic: hello, google: hello };
  const upstreams = {
    openai: await startOpenAiUpstream((request) => scripts.openai(request)),
    anthropic: await startAnthropicUpstream((request) => scripts.anthropic(request)),
    google: await startGeminiUpstream((request) => scripts.google(request)),
  } satisfies ByFormat<OpenAiUpstream | VendorUpstream>;
  const { gateway, close } = await startGatewayBefore(
    Object.values(upstreams),
    `
providers:
  acme: { kind: openai, baseUrl: '${upstreams.openai.baseUrl}', apiKey: acme-key }
  claude: { kind: anthropic, baseUrl: '${upstreams.anthropic.baseUrl}', apiKey: claude-key }
  gemini: { kind: google, baseUrl: '${upstreams.google.baseUrl}', apiKey: gemini-key }
${yaml}`,
  );
  const seats = new Map(FORMATS.map((format) => [format, seatOf(format, upstreams[format], scripts)]));
  return {
    client: new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 }),
    origin: gateway.origin,
    seat(format) {
      const seat = seats.get(format);
      if (seat === undefined) throw new Error(`no upstream speaks ${format}`);
      return seat;
    },
    close,
  };
}

const hello: VendorScript = () => ({ text: ['Hello', ' world'] });

function seatOf(
  format: Format,
  upstream: { readonly requests: readonly Arrived[] },
  scripts: Record<Format, VendorScript>,
): Seat {
  let start = 0;
  const arrived = (): readonly Arrived[] => upstream.requests.slice(start).filter(({ method }) => method === 'POST');
  return {
    format,
    model: MODELS[format],
    answers(answer) {
      start = upstream.requests.length;
      scripts[format] = typeof answer === 'function' ? answer : () => answer;
    },
    get arrived() {
      return arrived();
    },
    get last() {
      const last = arrived().at(-1);
      if (last === undefined) throw new Error(`nothing arrived at the ${format} upstream`);
      return last;
    },
  };
}

/** What a model thought, a field that the client's types do not know. */
export function reasoningOf(message: object): unknown {
  return 'reasoning' in message ? message.reasoning : undefined;
}

/** Everything that a stream brings. */
export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const chunks: T[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

/** Checks that `actual` holds `expected`: objects may have further members, lists may not have further elements. */
export function assertHolds(actual: unknown, expected: unknown): void {
  assert.deepEqual(prune(actual, expected), expected);
}

/** `value` without the members of objects that `like` does not have. */
function prune(value: unknown, like: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(like)) return value.map((each, index) => prune(each, like[index]));
  if (!isObject(value) || !isObject(like)) return value;
  return Object.fromEntries(
    Object.keys(like).flatMap((key) => (key in value ? [[key, prune(value[key], like[key])]] : [])),
  );
}
