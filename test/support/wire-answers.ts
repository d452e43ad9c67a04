import assert from 'node:assert/strict';
import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from 'node:http';
import { scanObject } from '../../src/core/json.ts';

/** An answer of the gateway as it came over the wire. */
export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** false: the connection was cut before the end that HTTP promised. */
  readonly complete: boolean;
}

/** What a model said, whatever the dialect. */
export interface Said {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly usage: Json | undefined;
  readonly finish: string | undefined;
  readonly error: Json | undefined;
}

export type Json = Readonly<Record<string, unknown>>;

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

/** One user's message, for tests that do not care. */
export const QUESTION = [{ role: 'user', content: 'Say something.' }] as const;

/** Posts JSON, and hands out the answer as it begins; `leave` closes the connection from this side. */
export function begin(
  origin: string,
  path: string,
  body: Json | undefined,
  { headers = {}, agent }: AskOptions = {},
): { readonly response: Promise<IncomingMessage>; leave(): void } {
  const content = body === undefined ? undefined : JSON.stringify(body);
  const sent = sendRequest(new URL(path, origin), {
    method: content === undefined ? 'GET' : 'POST',
    ...(agent === undefined ? {} : { agent }),
    headers: {
      ...(content === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
      ...headers,
    },
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve);
    sent.on('error', reject);
  });
  response.catch(() => {});
  sent.end(content);
  return { response, leave: () => sent.destroy() };
}

/** The rest of an answer. */
export async function receive(response: IncomingMessage): Promise<Received> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of response) pieces.push(piece as Buffer);
  } catch {
    // The connection was cut: `complete` says so.
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(pieces).toString('utf8'),
    complete: response.complete,
  };
}

/** Posts JSON (or, without a body, gets) and waits for the whole answer. */
export async function ask(origin: string, path: string, body?: Json, options?: AskOptions): Promise<Received> {
  return receive(await begin(origin, path, body, options).response);
}

export function askChat(origin: string, body: Json, options?: AskOptions): Promise<Received> {
  return ask(origin, '/v1/chat/completions', { messages: QUESTION, ...body }, options);
}

export function askConversation(origin: string, body: Json, options?: AskOptions): Promise<Received> {
  return ask(origin, '/backend-api/v2/conversation', { messages: QUESTION, ...body }, options);
}

/** Reads an error answer, and asserts that it is one of the promised form. */
export function readError(received: Received): Json {
  assert.ok(received.status >= 400, `status ${received.status}`);
  assert.match(received.headers['content-type'] ?? '', /^application\/json/);
  const { error } = JSON.parse(received.body) as { error: Json };
  assert.equal(typeof error['message'], 'string');
  assert.notEqual(error['message'], '');
  for (const name of ['type', 'code']) assert.equal(typeof error[name], 'string', name);
  assert.doesNotMatch(received.body, /\n\s+at |node_modules|\.ts:/, 'no stack');
  return error;
}

/** Reads a streamed answer of dialect B, and asserts everything that each of them promises. */
export function readChatStream(received: Received, { wantsUsage = false, choices = 1 } = {}): Said {
  assert.equal(received.status, 200, received.body);
  assert.match(received.headers['content-type'] ?? '', /^text\/event-stream/);
  assert.ok(received.complete, 'the connection ends in good order, whatever happened');
  const events = framesOf(received.body).map((frame) => {
    const [, data] = /^data: ([^\n]*)$/.exec(frame) ?? assert.fail(`not one data line: ${frame.slice(0, 200)}`);
    return data ?? '';
  });
  assert.equal(events.at(-1), '[DONE]');
  const said = new Gathered();
  let head: Json | undefined;
  let finishes = 0;
  for (const [at, data] of events.slice(0, -1).entries()) {
    const chunk = parseObject(data);
    const isLast = at === events.length - 2;
    if ('error' in chunk) {
      assert.ok(isLast, 'nothing but [DONE] follows an error');
      said.error = chunk['error'] as Json;
      assert.equal(typeof said.error['message'], 'string');
      continue;
    }
    const { id, object, created, model, provider, choices: list, usage } = chunk as Record<string, unknown>;
    for (const [name, value] of Object.entries({ id, model, provider })) {
      assert.ok(typeof value === 'string' && value !== '', `${name} of ${data.slice(0, 200)}`);
    }
    assert.equal(object, 'chat.completion.chunk');
    assert.ok(Number.isSafeInteger(created), `created: ${created}`);
    head ??= { id, provider };
    assert.deepEqual({ id, provider }, head, 'the same in every chunk');
    assert.ok(Array.isArray(list), `choices of ${data.slice(0, 200)}`);
    if (usage !== undefined && usage !== null) {
      assert.ok(isLast, 'usage comes last');
      said.usage = usage as Json;
    }
    if (list.length === 0) assert.ok(wantsUsage && isLast && usage, 'only usage may come without choices');
    for (const { index, delta, finish_reason } of list as Record<string, unknown>[]) {
      assert.ok(Number.isInteger(index) && Number(index) < choices, `index ${index}`);
      assert.ok(typeof delta === 'object' && delta !== null, `delta of ${data.slice(0, 200)}`);
      said.message(delta as Json);
      if (finish_reason === null || finish_reason === undefined) continue;
      assert.ok(typeof finish_reason === 'string' && finish_reason !== '', `finish_reason ${finish_reason}`);
      finishes += 1;
      said.finish = finish_reason;
      if (choices === 1) assert.ok(isLast || (wantsUsage && at === events.length - 3), 'nothing follows the finish');
    }
  }
  if (said.error === undefined) {
    assert.equal(finishes, choices, 'one finish for every choice');
    assert.ok(said.usage !== undefined, 'usage');
  } else {
    assert.equal(finishes, 0, 'a failure never looks like an end');
  }
  return said.whole();
}

/** Reads a whole answer of dialect B, and asserts everything that each of them promises. */
export function readCompletion(received: Received): Said {
  assert.equal(received.status, 200, received.body.slice(0, 500));
  assert.match(received.headers['content-type'] ?? '', /^application\/json/);
  assert.ok(received.complete);
  const completion = parseObject(received.body);
  for (const name of ['id', 'model', 'provider']) {
    assert.ok(typeof completion[name] === 'string' && completion[name] !== '', name);
  }
  assert.equal(completion['object'], 'chat.completion');
  assert.ok(Number.isSafeInteger(completion['created']), `created: ${completion['created']}`);
  const said = new Gathered();
  const choices = completion['choices'] as Record<string, unknown>[];
  for (const [at, { index, message, finish_reason }] of choices.entries()) {
    assert.equal(index, at);
    assert.ok(typeof finish_reason === 'string' && finish_reason !== '', `finish_reason ${finish_reason}`);
    assert.equal((message as Json)['role'], 'assistant');
    assert.equal(typeof (message as Json)['content'], 'string');
    said.message(message as Json);
    said.finish = finish_reason;
  }
  assert.ok(choices.length > 0, 'choices');
  said.usage = completion['usage'] as Json;
  assert.equal(typeof said.usage?.['total_tokens'], 'number');
  return said.whole();
}

/** Reads an answer of dialect A, and asserts everything that each of them promises. */
export function readConversation(received: Received, form: 'events' | 'lines' = 'events'): Said {
  assert.equal(received.status, 200, received.body.slice(0, 500));
  assert.ok(received.complete, 'the connection ends in good order, whatever happened');
  const isLines = form === 'lines';
  const type = isLines ? /^application\/x-ndjson/ : /^text\/event-stream/;
  assert.match(received.headers['content-type'] ?? '', type);
  const chunks = (isLines ? linesOf(received.body) : framesOf(received.body)).map((frame) => {
    if (isLines) return parseObject(frame);
    const [, event, data = ''] = /^event: ([a-z_]+)\ndata: ([^\n]*)$/.exec(frame) ?? assert.fail(`framing: ${frame}`);
    const chunk = parseObject(data);
    assert.equal(chunk['type'], event);
    return chunk;
  });
  const types = chunks.map((chunk) => String(chunk['type']));
  const said = new Gathered();
  for (const chunk of chunks) said.typed(chunk);
  const count = (wanted: string): number => types.filter((type) => type === wanted).length;
  if (types.at(-1) === 'error' || types.at(-1) === 'auth') {
    assert.equal(count('finish') + count('usage'), 0, 'a failure never looks like an end');
    if (types.length === 1) return said.whole();
  } else {
    assert.equal(types.at(-1), 'finish');
    assert.equal(count('finish'), 1);
    assert.equal(count('usage'), 1);
    assert.equal(count('error') + count('auth'), 0);
  }
  assert.deepEqual(types.slice(0, 2), ['provider', 'parameters']);
  return said.whole();
}

class Gathered {
  error: Json | undefined;
  usage: Json | undefined;
  finish: string | undefined;
  #text = '';
  #reasoning = '';
  readonly #calls = new Map<number, { id: string; name: string; arguments: string }>();

  /** A delta or a message of dialect B. */
  message(message: Json): void {
    for (const name of ['tool_calls', 'audio', 'reasoning']) assert.notEqual(message[name], null, `${name} is null`);
    const { content, reasoning, refusal } = message;
    assert.ok(content === undefined || content === null || typeof content === 'string', `content: ${typeof content}`);
    this.#text += content ?? '';
    if (typeof refusal === 'string') this.#text += refusal;
    if (typeof reasoning === 'string') this.#reasoning += reasoning;
    for (const [at, call] of ((message['tool_calls'] as Json[] | undefined) ?? []).entries()) this.#call(call, at);
  }

  /** A chunk of dialect A. */
  typed(chunk: Json): void {
    switch (chunk['type']) {
      case 'content':
        this.#text += chunk['content'];
        return;
      case 'reasoning':
        this.#reasoning += chunk['token'];
        return;
      case 'tool_calls':
        for (const [at, call] of (chunk['tool_calls'] as Json[]).entries()) this.#call(call, at);
        return;
      case 'usage':
        this.usage = chunk['usage'] as Json;
        return;
      case 'finish':
        this.finish = (chunk['finish'] as { reason: string }).reason;
        return;
      case 'error':
      case 'auth':
        assert.equal(typeof chunk['message'], 'string');
        this.error = chunk;
    }
  }

  whole(): Said {
    const { error, usage, finish } = this;
    const toolCalls = [...this.#calls].sort(([a], [b]) => a - b).map(([, call]) => call);
    return { text: this.#text, reasoning: this.#reasoning, toolCalls, usage, finish, error };
  }

  #call(call: Json, at: number): void {
    const index = typeof call['index'] === 'number' ? call['index'] : at;
    const { name, arguments: written } = call['function'] as { name?: string; arguments?: string };
    const known = this.#calls.get(index) ?? { id: '', name: '', arguments: '' };
    if (typeof call['id'] === 'string') known.id = call['id'];
    if (name !== undefined) known.name = name;
    known.arguments += written ?? '';
    this.#calls.set(index, known);
  }
}

/** Events between empty lines; comments, which every client passes over, are left out. */
function framesOf(body: string): string[] {
  assert.ok(body.endsWith('\n\n'), `the last event is closed: ${JSON.stringify(body.slice(-100))}`);
  assert.doesNotMatch(body, /\r|\n\n\n/);
  return body
    .slice(0, -2)
    .split('\n\n')
    .filter((frame) => frame !== ': ping');
}

function linesOf(body: string): string[] {
  assert.ok(body.endsWith('\n'));
  return body.slice(0, -1).split('\n');
}

/** Parses an object that names each of its members once: of two of a name, clients see one or the other. */
function parseObject(text: string): Json {
  const value = JSON.parse(text) as Json;
  const names = scanObject(Buffer.from(text)).members.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length, `a member comes twice: ${text.slice(0, 300)}`);
  return value;
}
