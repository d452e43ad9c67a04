import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type Expected, type Fault, type FaultName, faultList, flood } from '../support/openai-faults.ts';
import { type OpenAiUpstream, type SeenRequest, startOpenAiUpstream } from '../support/openai-upstream.ts';

// Every fault of the catalogue, through the whole gateway, in every way in which one can ask.

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** How the answer said that it is complete. */
  readonly finish: string | undefined;
  /** What it said went wrong. */
  readonly error: string | undefined;
  /** Data of the last event; empty for whole answers. */
  readonly last: string;
}

type Ask = (origin: string, model: string) => Promise<Answer>;

const messages = [{ role: 'user', content: 'Hi' }];

function post(origin: string, path: string, body: object): Promise<Response> {
  return fetch(origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Reads either form of answer. */
async function read(response: Response, take: (answer: Draft, json: unknown) => void): Promise<Answer> {
  const draft: Draft = { text: '', finish: undefined, error: undefined, last: '' };
  const body = await response.text();
  if (response.headers.get('content-type')?.startsWith('application/json')) take(draft, JSON.parse(body));
  else {
    const parser = createParser({
      onEvent({ data }) {
        draft.last = data;
        if (data !== '[DONE]') take(draft, JSON.parse(data));
      },
    });
    parser.feed(body);
  }
  return { status: response.status, headers: response.headers, ...draft };
}

interface Draft {
  text: string;
  finish: string | undefined;
  error: string | undefined;
  last: string;
}

interface WireChunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly message?: { readonly content: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly error?: { readonly message: string };
}

function takeChunk(draft: Draft, json: unknown): void {
  const { choices = [], error } = json as WireChunk;
  if (error !== undefined) draft.error = error.message;
  for (const choice of choices) {
    draft.text += (choice.delta ?? choice.message)?.content ?? '';
    draft.finish = choice.finish_reason ?? draft.finish;
  }
}

interface TypedChunk {
  readonly type?: string;
  readonly content?: string;
  readonly message?: string;
  readonly finish?: { readonly reason: string };
  readonly error?: string | { readonly message: string };
}

function takeTyped(draft: Draft, json: unknown): void {
  const chunk = json as TypedChunk;
  if (chunk.type === 'content') draft.text += chunk.content ?? '';
  if (chunk.type === 'finish') draft.finish = chunk.finish?.reason;
  if (chunk.type === 'error' || chunk.type === 'auth') draft.error = chunk.message;
  if (chunk.type === undefined && typeof chunk.error === 'object') draft.error = chunk.error.message;
}

const ways = {
  'dialect B, streamed': async (origin, model) =>
    read(await post(origin, '/v1/chat/completions', { model, messages, stream: true }), takeChunk),
  'dialect B, whole': async (origin, model) =>
    read(await post(origin, '/v1/chat/completions', { model, messages }), takeChunk),
  'dialect A': async (origin, model) =>
    read(await post(origin, '/backend-api/v2/conversation', { model, messages }), takeTyped),
} satisfies Record<string, Ask>;

/** Known gaps, by way and fault. They still run; whoever closes one takes its line out. */
const gaps: { readonly [way in keyof typeof ways]?: { readonly [name in FaultName]?: string } } = {
  'dialect B, streamed': {
    'fault-data-lines': 'the relay passes the line feeds of the JSON on, which breaks the event apart',
    'fault-no-finish': 'the relay adds no finish_reason where the upstream only says [DONE]',
    'fault-endless-error': 'the relay goes on reading an error text after it has kept enough of it',
  },
  'dialect B, whole': {
    'fault-open-after-done': 'the relay waits for the end of the connection, not for [DONE]',
    'fault-endless-error': 'as above',
  },
};

function check(answer: Answer, expected: Expected, way: keyof typeof ways): void {
  const isWhole = way === 'dialect B, whole';
  switch (expected.kind) {
    case 'text':
      assert.equal(answer.error, undefined);
      assert.equal(answer.status, 200);
      assert.equal(answer.text, expected.text);
      assert.equal(answer.finish, 'stop');
      if (way === 'dialect B, streamed') assert.equal(answer.last, '[DONE]');
      break;
    case 'cut':
      assert.ok(answer.error, 'the failure is visible');
      assert.ok(answer.finish === undefined || answer.finish === 'error', `ended with ${answer.finish}`);
      // Nothing of a whole answer was visible yet, so it can still be refused as such.
      assert.equal(answer.text, isWhole ? '' : expected.text);
      if (isWhole) assert.ok(answer.status >= 500, `status ${answer.status}`);
      else assert.equal(answer.status, 200);
      break;
    case 'error':
      assert.equal(answer.text, '');
      assert.ok(answer.error, 'the failure is explained');
      // Missing credentials are a chunk in dialect A, since its front ends act upon it.
      if (way === 'dialect A' && expected.status.includes(401) && answer.status === 200) break;
      assert.ok(expected.status.includes(answer.status), `status ${answer.status}: ${answer.error}`);
  }
}

describe('faults of an upstream', () => {
  let upstream: OpenAiUpstream;
  let patient: Gateway;
  let hasty: Gateway;

  before(async () => {
    upstream = await startOpenAiUpstream();
    const provider = `providers: { acme: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: acme-key } }`;
    patient = await startGateway(`${provider}\nlimits: { totalMs: 15000 }`);
    hasty = await startGateway(`${provider}\nlimits: { firstByteMs: 300, idleMs: 300, totalMs: 2000 }`);
  });
  after(async () => {
    await hasty.close();
    await patient.close();
    await upstream.close();
  });

  async function provoke(name: FaultName, fault: Fault, ask: Ask): Promise<[Answer, readonly SeenRequest[]]> {
    const start = upstream.chats.length;
    const answer = await ask((fault.silent ? hasty : patient).origin, `acme/${name}`);
    return [answer, upstream.chats.slice(start)];
  }

  for (const way of Object.keys(ways) as (keyof typeof ways)[]) {
    describe(way, () => {
      for (const [name, fault] of faultList) {
        if (fault.stream === false && way !== 'dialect B, whole') continue;
        const todo = gaps[way]?.[name];
        test(name, { timeout: 60_000, ...(todo === undefined ? {} : { todo }) }, async () => {
          const [answer, seen] = await provoke(name, fault, ways[way]);
          check(answer, fault.expected, way);
          assert.ok(seen.length >= 1 && seen.length <= 3, `${seen.length} attempts`);
          if (fault.expected.kind === 'cut' && way !== 'dialect B, whole') {
            assert.equal(seen.length, 1, 'what was visible is not asked for again');
          }
          for (const request of seen) assert.equal(request.headers.authorization, 'Bearer acme-key');
        });
      }
    });
  }

  test('what no further attempt can mend gets none', async () => {
    for (const name of ['fault-400', 'fault-401', 'fault-rate-limited'] as const) {
      const start = upstream.chats.length;
      await ways['dialect B, whole'](patient.origin, `acme/${name}`);
      assert.equal(upstream.chats.length - start, 1, name);
    }
  });

  test('a rate limit reaches the client with its time', async () => {
    for (const way of Object.values(ways)) {
      const answer = await way(patient.origin, 'acme/fault-rate-limited');
      assert.equal(answer.headers.get('retry-after'), '30');
    }
  });

  test('what belongs to the upstream stays there', async () => {
    for (const way of Object.values(ways)) {
      const { headers } = await way(patient.origin, 'acme/test-model');
      for (const name of ['set-cookie', 'openai-organization']) assert.equal(headers.get(name), null);
      assert.notEqual(headers.get('server'), 'cloudflare');
      assert.notEqual(headers.get('x-request-id'), 'req_upstream');
    }
  });

  test('a redirect is never followed', () => {
    assert.ok(!upstream.requests.some((request) => request.path === '/stolen'));
  });

  test('nothing stays open', async () => {
    await until(() => upstream.open === 0);
    assert.equal(upstream.open, 0);
  });

  test('failing neighbours do not disturb', { timeout: 60_000 }, async () => {
    const ask = ways['dialect B, streamed'];
    const bad: FaultName[] = ['fault-reset', 'fault-reset-early', 'fault-error-event', 'fault-not-http', 'fault-503'];
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const [good] = await Promise.all([
          ask(patient.origin, 'acme/fault-seven-bytes'),
          ask(patient.origin, `acme/${bad[index % bad.length]}`),
        ]);
        return good;
      }),
    );
    const expected = faultList.find(([name]) => name === 'fault-seven-bytes')?.[1].expected;
    assert.ok(expected);
    for (const answer of answers) check(answer, expected, 'dialect B, streamed');
  });
});

describe('clients that leave or dawdle', () => {
  const paths = {
    'dialect B': ['/v1/chat/completions', { stream: true }],
    'dialect B, whole': ['/v1/chat/completions', {}],
    'dialect A': ['/backend-api/v2/conversation', {}],
  } as const;

  async function open(
    origin: string,
    way: keyof typeof paths,
  ): Promise<{ leave(): void; response: Promise<IncomingMessage> }> {
    const [path, more] = paths[way];
    const sent = httpRequest(origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      agent: false,
    });
    const response = once(sent, 'response').then(([message]) => message as IncomingMessage);
    response.catch(() => {});
    sent.on('error', () => {});
    sent.end(JSON.stringify({ model: 'acme/test-model', messages, ...more }));
    return { response, leave: () => sent.destroy() };
  }

  for (const way of Object.keys(paths) as (keyof typeof paths)[]) {
    for (const [moment, answer] of [
      ['before the first byte', { silent: true }],
      ['in the middle', { text: ['a', 'b'], stallAfter: 1 }],
    ] as const) {
      test(`${way}: 40 leave ${moment}, and nothing stays open upstream`, { timeout: 60_000 }, async () => {
        const upstream = await startOpenAiUpstream(() => answer);
        const gateway = await startGateway(`providers: { acme: { kind: openai, baseUrl: '${upstream.baseUrl}' } }`);
        try {
          const clients = await Promise.all(Array.from({ length: 40 }, () => open(gateway.origin, way)));
          await until(() => upstream.open === 40);
          if (moment === 'in the middle' && way !== 'dialect B, whole') {
            for (const client of clients) await once(await client.response, 'data');
          }
          for (const client of clients) client.leave();
          await until(() => upstream.open === 0);
          assert.equal(upstream.open, 0);
          for (const request of upstream.chats) assert.equal(await request.closed, 'aborted');
          assert.equal(upstream.chats.length, 40, 'nobody asked again for a client that left');
        } finally {
          await gateway.close();
          await upstream.close();
        }
      });
    }
  }

  for (const way of ['dialect B', 'dialect A'] as const) {
    test(`${way}: a client that does not read holds the upstream back`, { timeout: 120_000 }, async () => {
      const total = 200 * 1024 * 1024;
      const flooding = flood(total);
      const upstream = await startOpenAiUpstream(undefined, {
        handle: async (request, response) => {
          if (request.method !== 'POST') return false;
          await flooding.handle(request, response);
          return true;
        },
      });
      const gateway = await startGateway(`providers: { acme: { kind: openai, baseUrl: '${upstream.baseUrl}' } }`);
      const client = await open(gateway.origin, way);
      try {
        const response = await client.response;
        // Until the flood stands still: no byte more within half a second.
        let taken = -1;
        while (taken !== flooding.taken) {
          taken = flooding.taken;
          await sleep(500);
        }
        assert.ok(taken > 0);
        assert.ok(taken <= 40 * 1024 * 1024, `${taken} bytes taken in`);
        let size = 0;
        let tail = '';
        for await (const piece of response) {
          size += (piece as Buffer).length;
          tail = tail.slice(-500) + (piece as Buffer).toString('latin1').slice(-500);
        }
        // Dialect A says the same in fewer bytes.
        assert.ok(size >= 0.95 * total, `${size} bytes arrived`);
        assert.match(tail, /stop/);
      } finally {
        client.leave();
        await gateway.close();
        await upstream.close();
      }
    });
  }

  test('2,000 numbered pieces arrive in order after a pause', { timeout: 60_000 }, async () => {
    const numbers = Array.from({ length: 2000 }, (_, index) => `${index} ${'.'.repeat(2000)}\n`);
    const upstream = await startOpenAiUpstream(() => ({ text: numbers }));
    const gateway = await startGateway(`providers: { acme: { kind: openai, baseUrl: '${upstream.baseUrl}' } }`);
    try {
      const client = await open(gateway.origin, 'dialect B');
      const response = await client.response;
      await sleep(500);
      let body = '';
      for await (const piece of response.setEncoding('utf8')) body += piece;
      const draft: Draft = { text: '', finish: undefined, error: undefined, last: '' };
      const parser = createParser({
        onEvent: ({ data }) => {
          if (data !== '[DONE]') takeChunk(draft, JSON.parse(data));
        },
      });
      parser.feed(body);
      assert.equal(draft.text, numbers.join(''));
      assert.equal(draft.finish, 'stop');
    } finally {
      await gateway.close();
      await upstream.close();
    }
  });
});

/** Waits for something that should happen soon; the assertion after it tells whether it did. */
async function until(isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo() && waited < 200; waited += 1) await sleep(20);
}
