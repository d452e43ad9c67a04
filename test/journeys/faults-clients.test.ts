import assert from 'node:assert/strict';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type Flood, flood } from '../support/openai-faults.ts';
import { type OpenAiOptions, type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { plainServer } from '../support/plain-server.ts';
import type { VendorAnswer, VendorScript } from '../support/vendor-script.ts';
import { begin, QUESTION, readChatStream, readConversation, receive } from '../support/wire-answers.ts';

// Clients that leave, and clients that read more slowly than an upstream writes.

const MEGABYTE = 1024 * 1024;

const ways = {
  'dialect B, streamed': (origin: string, model: string, more: object = {}) =>
    begin(origin, '/v1/chat/completions', { provider: 'mock', model, messages: QUESTION, stream: true, ...more }),
  'dialect B, whole': (origin: string, model: string, more: object = {}) =>
    begin(origin, '/v1/chat/completions', { provider: 'mock', model, messages: QUESTION, ...more }),
  'dialect A': (origin: string, model: string) =>
    begin(origin, '/backend-api/v2/conversation', { provider: 'mock', model, messages: QUESTION }),
  'dialect A, plain text': (origin: string, model: string) =>
    begin(origin, `/backend-api/v2/create?provider=mock&model=${model}&prompt=Hi`, undefined),
} as const;
type Way = keyof typeof ways;
const WAYS = Object.keys(ways) as Way[];

function* words(): Generator<string> {
  for (let count = 0; ; count += 1) yield `word ${count} `;
}

/** Where the answer stands when the client leaves, by the name of the model. */
const moments: Readonly<Record<string, (isStream: boolean) => VendorAnswer>> = {
  'before-headers': () => ({ silent: true }),
  'before-first-byte': () => ({}),
  // Half of an answer that is not streamed.
  'in-the-middle': (isStream) => (isStream ? { text: words(), delayMs: 5 } : { text: ['a', 'b'], stallAfter: 1 }),
  'in-a-stall': () => ({ text: ['a', 'b'], stallAfter: 1 }),
};

async function openGateway(
  context: TestContext,
  script: VendorScript | undefined,
  limits = '{}',
  options?: OpenAiOptions,
): Promise<[Gateway, OpenAiUpstream]> {
  const upstream = await startOpenAiUpstream(script, options);
  const gateway = await startGateway(
    `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }\nlimits: ${limits}`,
  );
  context.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return [gateway, upstream];
}

/** An upstream that writes 200 MB as fast as they are taken. */
async function openFlood(context: TestContext, limits?: string): Promise<[Gateway, OpenAiUpstream, Flood]> {
  const flooding = flood(200 * MEGABYTE);
  const [gateway, upstream] = await openGateway(context, undefined, limits, {
    async handle(request, response) {
      if (request.method !== 'POST') return false;
      await flooding.handle(request, response);
      return true;
    },
  });
  return [gateway, upstream, flooding];
}

describe('clients that leave', () => {
  let upstream: OpenAiUpstream;
  let gateway: Gateway;

  before(async () => {
    upstream = await startOpenAiUpstream((request) => moments[request.model]?.(request.stream) ?? {}, {
      handle(request, response) {
        if (request.model !== 'before-first-byte') return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        return true;
      },
    });
    gateway = await startGateway(`providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }`);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  test('200 disconnects at every moment leave nothing open, here or upstream', { timeout: 60_000 }, async () => {
    const leaveAll = async (count: number): Promise<void> => {
      for (const model of Object.keys(moments)) {
        for (const way of WAYS) {
          const before = upstream.chats.length;
          const clients = Array.from({ length: count }, () => ways[way](gateway.origin, model));
          await eventually(`${way}: all have arrived upstream`, () => upstream.chats.length === before + count);
          // Where something is said before the whole is, it must have reached the client.
          if (way !== 'dialect B, whole' && model.startsWith('in')) {
            await Promise.all(clients.map(async ({ response }) => once(await response, 'data')));
          }
          for (const client of clients) client.leave();
          await eventually(`${way}, ${model}: closed upstream`, () => upstream.open === 0);
          const chats = upstream.chats.slice(before);
          assert.equal(chats.length, count, 'nobody is asked again for a client that left');
          for (const chat of chats) assert.equal(await chat.closed, 'aborted');
        }
      }
    };
    await leaveAll(1); // what is opened once stays open
    const files = openFiles();
    await leaveAll(13);
    await eventually('files are closed again', () => openFiles() <= files + 30);
  });

  test('a client that leaves while an attempt waits is not asked for again', async (context) => {
    const [waiting, seen] = await openGateway(context, () => ({ status: 503, headers: { 'retry-after': '1' } }));
    await Promise.all(
      WAYS.map(async (way, index) => {
        const asked = (): number => seen.chats.filter(({ model }) => model === `model-${index}`).length;
        const client = ways[way](waiting.origin, `model-${index}`);
        await eventually('the first attempt', () => asked() === 1);
        await sleep(100);
        client.leave();
        await sleep(1_300);
        assert.equal(asked(), 1, way);
      }),
    );
  });

  test('a client that leaves before anybody is asked for it is not asked for at all', async (context) => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    let listings = 0;
    const asked: (string | undefined)[] = [];
    const slow = await plainServer(context, async ({ method, url }, response) => {
      if (method === 'POST') asked.push(url);
      else {
        listings += 1;
        await gate;
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[{"id":"a-model"}]}');
    });
    const gateway = await startGateway(`providers: { slow: { kind: openai, baseUrl: '${slow.url}' } }`);
    context.after(() => gateway.close());
    let closed = 0;
    gateway.app.server.server.on('request', (_request, response) =>
      response.once('close', () => {
        closed += 1;
      }),
    );
    const questions = {
      '/v1/chat/completions': { messages: QUESTION },
      '/v1/messages': { messages: QUESTION, max_tokens: 9 },
      '/v1/embeddings': { input: 'Hi' },
      '/v1/images/generations': { prompt: 'Hi' },
      '/v1/audio/speech': { input: 'Hi', voice: 'alloy' },
    };
    const clients = Object.entries(questions).map(([path, question]) =>
      begin(gateway.origin, path, { model: 'a-model', ...question }),
    );
    await eventually(
      'all wait to know who has the model',
      () => listings > 0 && gateway.app.running === clients.length,
    );
    for (const client of clients) client.leave();
    await eventually('all have left', () => closed === clients.length);
    open();
    await eventually('nobody waits any more', () => gateway.app.running === 0);
    assert.deepEqual(asked, []);
  });

  test('a client that leaves when all of its form was read is not asked for, and keeps no place', async (context) => {
    const [single, seen] = await openGateway(context, undefined, '{ streams: 1 }');
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    let lookups = 0;
    context.mock.method(dns, 'lookup', async () => {
      lookups += 1;
      await gate;
      return [{ address: '93.184.215.14', family: 4 }];
    });
    syncBuiltinESMExports();
    context.after(() => {
      context.mock.restoreAll();
      syncBuiltinESMExports();
    });
    let closed = 0;
    single.app.server.server.on('request', (_request, response) =>
      response.once('close', () => {
        closed += 1;
      }),
    );
    const form = new FormData();
    form.set('json', JSON.stringify({ provider: 'mock', model: 'of-the-form', messages: QUESTION }));
    form.set('media_url', 'https://pictures.example/a.png');
    const leaving = new AbortController();
    const url = `${single.origin}/backend-api/v2/conversation`;
    const left = assert.rejects(fetch(url, { method: 'POST', body: form, signal: leaving.signal }));
    await eventually('the address is looked up', () => lookups === 1);
    leaving.abort();
    await left;
    await eventually('the client has left', () => closed === 1);
    open();
    const another = async (): Promise<IncomingMessage> => {
      const { response } = ways['dialect B, streamed'](single.origin, 'of-another');
      return (await response).resume();
    };
    await eventually('its place is free', async () => (await another()).statusCode === 200);
    assert.deepEqual(
      seen.chats.map(({ model }) => model),
      ['of-another'],
    );
  });

  test('all choices of an answer are closed with it', async (context) => {
    const several = await startAnthropicUpstream(() => ({ text: ['a', 'b'], stallAfter: 1 }));
    const own = await startGateway(
      `providers: { mock: { kind: anthropic, baseUrl: '${several.baseUrl}', apiKey: key-of-mock } }`,
    );
    context.after(async () => {
      await own.close();
      await several.close();
    });
    for (const way of ['dialect B, streamed', 'dialect B, whole'] as const) {
      const before = several.requests.length;
      const client = ways[way](own.origin, 'claude-haiku-4-5', { n: 3 });
      await eventually('all were asked', () => several.requests.length === before + 3);
      await sleep(100);
      client.leave();
      for (const request of several.requests.slice(before)) assert.equal(await request.closed, 'aborted');
    }
  });
});

describe('clients that dawdle', { concurrency: 7 }, () => {
  for (const way of WAYS.filter((each) => each !== 'dialect B, whole')) {
    test(`${way}: a client that does not read holds the upstream back`, { timeout: 60_000 }, async (context) => {
      const [gateway, upstream, flooding] = await openFlood(context);
      const client = ways[way](gateway.origin, 'test-model');
      const response = await client.response;
      await standsStill(() => flooding.taken);
      assert.ok(flooding.taken > 0);
      assert.ok(flooding.taken <= 40 * MEGABYTE, `${flooding.taken} bytes were taken in`);
      // It goes on where it stood, and a client that leaves then ends it.
      const stood = flooding.taken;
      await readAtLeast(response, stood + 4 * MEGABYTE);
      assert.ok(flooding.taken > stood);
      client.leave();
      await eventually('closed upstream', () => upstream.open === 0);
    });
  }

  for (const way of ['dialect B, streamed', 'dialect A'] as const) {
    test(`${way}: 2,000 numbered pieces arrive in order after a pause`, { timeout: 60_000 }, async (context) => {
      const numbers = Array.from({ length: 2_000 }, (_, index) => `${index} ${'.'.repeat(2_000)}\n`);
      const [gateway, upstream] = await openGateway(context, () => ({ text: numbers }), '{ idleMs: 3000 }');
      const response = await ways[way](gateway.origin, 'test-model').response;
      await once(response, 'readable');
      // Longer than the upstream may be silent: time that the client takes is not held against the upstream.
      await sleep(4_000);
      const received = await receive(response);
      const said = way === 'dialect A' ? readConversation(received) : readChatStream(received);
      assert.equal(said.text, numbers.join(''));
      assert.equal(said.finish, 'stop');
      assert.equal(upstream.chats.length, 1);
    });

    test(`${way}: a client that never reads is cut when its time is over`, { timeout: 60_000 }, async (context) => {
      const [gateway, upstream, flooding] = await openFlood(context, '{ totalMs: 2500 }');
      const client = ways[way](gateway.origin, 'test-model');
      const response = await client.response;
      // Everything on the way is full by then, so no last words reach the client.
      await standsStill(() => flooding.taken);
      await eventually('closed upstream', () => upstream.open === 0);
      const { promise: isCut, resolve } = Promise.withResolvers<void>();
      response.socket.once('close', () => resolve());
      // Only who reads hears of the end; until then the operating system holds it back.
      await sleep(1_500);
      let end = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        end = (end + piece).slice(-2_000);
      });
      response.on('error', () => {});
      await isCut;
      // Where there was room left on the way, on a busy machine, it hears why.
      assert.ok(!response.complete || end.includes('upstream_timeout'), 'not an end as if all were well');
    });
  }

  test('dialect B, whole: an answer has its place and its time until the client has all of it', {
    timeout: 60_000,
  }, async (context) => {
    const text = ['a'.repeat(20 * MEGABYTE)];
    const [gateway, upstream] = await openGateway(context, () => ({ text }), '{ streams: 1, totalMs: 10000 }');
    const client = ways['dialect B, whole'](gateway.origin, 'test-model');
    const response = await client.response;
    const { promise: isCut, resolve } = Promise.withResolvers<void>();
    response.socket.once('close', () => resolve());
    const next = async () => (await ways['dialect B, whole'](gateway.origin, 'test-model').response).resume();
    const { statusCode } = await next();
    assert.equal(statusCode, 503);
    assert.equal(upstream.chats.length, 1);
    await eventually('its time is over', async () => (await next()).statusCode === 200, 30_000);
    response.on('error', () => {}).resume();
    await isCut;
    assert.ok(!response.complete, 'not an end as if all were well');
  });
});

/** Waits until a number has not changed for half a second. */
async function standsStill(read: () => number): Promise<void> {
  for (let last = -1; last !== read(); ) {
    last = read();
    await sleep(500);
  }
}

async function readAtLeast(response: IncomingMessage, bytes: number): Promise<void> {
  let size = 0;
  for await (const piece of response.iterator({ destroyOnReturn: false })) {
    size += (piece as Buffer).length;
    if (size >= bytes) return;
  }
}

function openFiles(): number {
  return readdirSync('/proc/self/fd').length;
}
