import type { WholeRequest } from '../api/observe.ts';
import { loggedChat, toRecord } from './logged-chat.ts';

/** The same request as a command for a shell. */
export function asCurl(request: WholeRequest, origin: string): string {
  const known: Readonly<Record<string, string | null>> = { provider: request.provider, model: request.model };
  const path = request.route.replace(/:(\w+)/g, (whole, name: string) => known[name] ?? whole);
  if (request.method === 'GET') {
    const query = new URLSearchParams(
      Object.entries(toRecord(request.request?.body)).map(([name, value]): [string, string] => [name, String(value)]),
    );
    return `curl ${quoted(`${origin}${path}${query.size === 0 ? '' : `?${query}`}`)}`;
  }
  const body = request.request?.body ?? argumentsOf(request);
  return `curl ${quoted(origin + path)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(body, null, 2))}`;
}

/** Quotes for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The call of OpenAI's libraries for each kind of request; the others are made with curl. */
const CALLS: Readonly<Record<string, readonly [python: string, node: string]>> = {
  chat: ['chat.completions.create', 'chat.completions.create'],
  completion: ['completions.create', 'completions.create'],
  image: ['images.generate', 'images.generate'],
  speech: ['audio.speech.create', 'audio.speech.create'],
  embedding: ['embeddings.create', 'embeddings.create'],
  moderation: ['moderations.create', 'moderations.create'],
  responses: ['responses.create', 'responses.create'],
};

/** Whether OpenAI's libraries have a call for it. */
export function hasSdkCall({ operation, dialect }: WholeRequest): boolean {
  return CALLS[operation] !== undefined || dialect === 'responses';
}

/** With OpenAI's library for Python. */
export function asPython(request: WholeRequest, origin: string): string {
  const [call = ''] = callOf(request);
  const given = pythonArguments(argumentsOf(request)).map(([name, value]) => `    ${name}=${toPython(value, 4)},\n`);
  const lines = [
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${JSON.stringify(`${origin}/v1`)}, api_key="none")`,
    '',
    `answer = client.${call}(\n${given.join('')})`,
  ];
  if (isStream(request)) return [...lines, 'for chunk in answer:', '    print(chunk)', ''].join('\n');
  return [...lines, 'print(answer)', ''].join('\n');
}

/** What OpenAI's library for Python takes by name in the calls above. Whatever is missing here works within `extra_body`, too. */
const BY_NAME: ReadonlySet<string> = new Set(
  (
    'audio background best_of dimensions echo encoding_format frequency_penalty include input instructions logit_bias logprobs ' +
    'max_completion_tokens max_output_tokens max_tokens messages metadata modalities model n parallel_tool_calls presence_penalty ' +
    'previous_response_id prompt quality reasoning reasoning_effort response_format seed service_tier size speed stop store stream ' +
    'stream_options style suffix temperature text tool_choice tools top_logprobs top_p truncation user voice'
  ).split(' '),
);

/** What the library is to be given: it refuses names that it does not know. */
function pythonArguments(given: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  const all = Object.entries(given);
  const named = all.filter(([name]) => BY_NAME.has(name));
  const others = all.filter(([name]) => !BY_NAME.has(name));
  return others.length === 0 ? named : [...named, ['extra_body', Object.fromEntries(others)]];
}

/** With OpenAI's library for Node.js. */
export function asNode(request: WholeRequest, origin: string): string {
  const [, call = ''] = callOf(request);
  const lines = [
    "import OpenAI from 'openai';",
    '',
    `const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: 'none' });`,
    '',
    `const answer = await client.${call}(${toScript(argumentsOf(request), 0)});`,
  ];
  if (isStream(request)) return [...lines, 'for await (const chunk of answer) console.log(chunk);', ''].join('\n');
  return [...lines, 'console.log(answer);', ''].join('\n');
}

function callOf({ operation, dialect }: WholeRequest): readonly string[] {
  return CALLS[dialect === 'responses' ? 'responses' : operation] ?? [];
}

function isStream(request: WholeRequest): boolean {
  return argumentsOf(request)['stream'] === true;
}

/** Fields that other dialects have in common with OpenAI's. */
const SHARED = ['temperature', 'top_p', 'max_tokens', 'seed', 'stop', 'reasoning_effort', 'tools', 'web_search'];

/** What OpenAI's libraries are to be given. Bodies of other dialects are translated as far as they say the same. */
function argumentsOf(request: WholeRequest): Readonly<Record<string, unknown>> {
  const body = toRecord(request.request?.body);
  const model = request.asked ?? request.model ?? '';
  if (request.dialect === 'openai' || request.dialect === 'responses') {
    if (request.request !== null) return { model, ...body };
  }
  const stream = request.stream ? { stream: true } : {};
  if (request.operation !== 'chat') return { model, ...body };
  const said = loggedChat(body).map(({ role, text }) => ({ role, content: text }));
  const messages = said.length > 0 ? said : [{ role: 'user', content: '…' }];
  if (request.dialect === 'responses') return { model, input: '…', ...stream };
  const shared = SHARED.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]] as const]));
  const tools = request.dialect === 'backend' ? shared : shared.filter(([name]) => name !== 'tools');
  return { model, messages, ...Object.fromEntries(tools), ...stream };
}

function toPython(value: unknown, indent: number): string {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const members = Array.isArray(value)
    ? value.map((each) => toPython(each, indent + 4))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${toPython(each, indent + 4)}`);
  return wrapped(open, members, close, indent, 4);
}

function toScript(value: unknown, indent: number): string {
  if (value === undefined) return 'undefined';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    return wrapped(
      '[',
      value.map((each) => toScript(each, indent + 2)),
      ']',
      indent,
      2,
    );
  }
  const members = Object.entries(value).map(([name, each]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${key}: ${toScript(each, indent + 2)}`;
  });
  return wrapped('{', members, '}', indent, 2);
}

/** On one line where that is short. */
function wrapped(open: string, members: readonly string[], close: string, indent: number, step: number): string {
  const short = `${open}${open === '{' && step === 2 && members.length > 0 ? ' ' : ''}${members.join(', ')}${
    open === '{' && step === 2 && members.length > 0 ? ' ' : ''
  }${close}`;
  if (short.length < 70 && !short.includes('\n')) return short;
  const pad = ' '.repeat(indent + step);
  return `${open}\n${members.map((member) => `${pad}${member},\n`).join('')}${' '.repeat(indent)}${close}`;
}
