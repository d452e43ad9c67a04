import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { VendorAnswer, VendorRequest } from '../support/vendor-script.ts';
import { startGatewayBefore } from './gateway-before.ts';

/** The upstreams, each behind a provider of its own. */
export type Name = 'keyed' | 'free' | 'other' | 'asking' | 'claude';

/** A chat that arrived at an upstream, and the key that came with it. */
export interface Arrival {
  readonly at: Name;
  readonly model: string;
  readonly key: string | undefined;
}

export interface SelectionWorld extends AsyncDisposable {
  readonly origin: string;
  /** Everything that was logged, as text. */
  readonly logged: () => string;
  /** What upstreams answer instead of their name. */
  readonly answers: Partial<Record<Name, VendorAnswer>>;
  /** What has arrived since the last look. */
  arrived(): readonly Arrival[];
}

/**
 * A gateway before five upstreams. In the order of the file: `keyed` has a key, `free` and `other` need none, `groq` (the
 * upstream `asking`) and `claude` need one and have none. The model `shared` is offered by the first three.
 */
export async function openWorld(yaml = ''): Promise<SelectionWorld> {
  const answers: SelectionWorld['answers'] = {};
  let arrivals: Arrival[] = [];
  const scriptOf = (at: Name) => (request: VendorRequest) => {
    const { authorization, 'x-api-key': own } = request.headers;
    if (request.method === 'POST')
      arrivals.push({ at, model: request.model, key: authorization?.replace(/^Bearer /, '') ?? own?.toString() });
    return answers[at] ?? { text: [at] };
  };
  const upstreams = {
    keyed: await startOpenAiUpstream(scriptOf('keyed')),
    free: await startOpenAiUpstream(scriptOf('free'), { models: ['text-embedding-3-small', 'only-free', 'shared'] }),
    other: await startOpenAiUpstream(scriptOf('other')),
    asking: await startOpenAiUpstream(scriptOf('asking')),
    claude: await startAnthropicUpstream(scriptOf('claude')),
  };
  const { gateway, close } = await startGatewayBefore(
    Object.values(upstreams),
    `
providers:
  keyed:
    kind: openai
    label: Keyed One
    baseUrl: '${upstreams.keyed.baseUrl}'
    apiKey: configured-key
    models: [only-keyed, shared]
  free: { kind: openai, label: Free Upstream, baseUrl: '${upstreams.free.baseUrl}' }
  other:
    kind: openai
    baseUrl: '${upstreams.other.baseUrl}'
    models: [shared, org/nested, 'tagged:7b', 'mistral:latest', openai/gpt-oss]
    defaultModel: org/nested
  groq: { label: Asking, baseUrl: '${upstreams.asking.baseUrl}', models: [asked] }
  claude: { kind: anthropic, label: Claude, baseUrl: '${upstreams.claude.baseUrl}' }
${yaml}`,
  );
  return {
    origin: gateway.origin,
    logged: () => JSON.stringify(gateway.log.lines),
    answers,
    arrived() {
      const since = arrivals;
      arrivals = [];
      return since;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** What a client got in dialect B. */
export interface Answer {
  readonly status: number;
  /** Text of the answer, or the message of the error. */
  readonly text: string;
  readonly code: string | undefined;
  /** Of the headers: who answered with which model, after how many attempts. */
  readonly provider: string | null;
  readonly model: string | null;
  readonly attempts: string | null;
}

export type Headers = Readonly<Record<string, string>>;

const MESSAGES = [{ role: 'user', content: 'Hi' }];

/** Asks in dialect B. `path` defaults to `/v1/chat/completions`. */
export async function ask(
  world: Pick<SelectionWorld, 'origin'>,
  body: object,
  { path = '/v1/chat/completions', headers = {} }: { readonly path?: string; readonly headers?: Headers } = {},
): Promise<Answer> {
  const response = await post(world.origin + path, body, headers);
  const json = (await response.json()) as {
    choices?: { message: { content: string } }[];
    error?: { message: string; code: string };
  };
  return {
    status: response.status,
    text: json.choices?.[0]?.message.content ?? json.error?.message ?? '',
    code: json.error?.code,
    provider: response.headers.get('x-sluice-provider'),
    model: response.headers.get('x-sluice-model'),
    attempts: response.headers.get('x-sluice-attempts'),
  };
}

/** A typed chunk of dialect A. */
export type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Asks in dialect A; `events` is empty when the answer is no stream. */
export async function converse(
  world: Pick<SelectionWorld, 'origin'>,
  body: object,
  headers: Headers = {},
): Promise<{ readonly status: number; readonly json: unknown; readonly events: readonly Event[] }> {
  const response = await post(`${world.origin}/backend-api/v2/conversation`, body, headers);
  const text = await response.text();
  if (response.headers.get('content-type')?.startsWith('application/json') === true) {
    return { status: response.status, json: JSON.parse(text), events: [] };
  }
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  return { status: response.status, json: undefined, events: lines.map((line) => JSON.parse(line.slice(6)) as Event) };
}

function post(url: string, body: object, headers: Headers): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ messages: MESSAGES, ...body }),
  });
}
