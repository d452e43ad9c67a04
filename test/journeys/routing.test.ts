import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { unusedPort } from '../support/plain-server.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import {
  ask,
  askChat,
  askConversation,
  type Json,
  QUESTION,
  readChatStream,
  readError,
} from '../support/wire-answers.ts';

// Fallback, balance, keys that take turns, sessions: as a client and the upstreams see them.

const says =
  (text: string): VendorScript =>
  () => ({ text: [text] });
const busy: VendorScript = () => ({ status: 503, errorMessage: 'busy' });
const limited: VendorScript = () => ({ status: 429, errorMessage: 'slow down', headers: { 'retry-after': '30' } });

async function upstream(context: TestContext, script: VendorScript, models = ['m']): Promise<OpenAiUpstream> {
  const started = await startOpenAiUpstream(script, { models });
  context.after(() => started.close());
  return started;
}

async function gateway(context: TestContext, yaml: string): Promise<Gateway> {
  const started = await startGateway(yaml);
  context.after(() => started.close());
  return started;
}

const row = (id: string, { baseUrl }: { readonly baseUrl: string }, more = ''): string =>
  `  ${id}: { kind: openai, baseUrl: '${baseUrl}'${more === '' ? ', apiKey: key-of-it' : `, ${more}`} }\n`;

const provider = (headers: Readonly<Record<string, unknown>>): unknown => headers['x-sluice-provider'];

describe('a list of models in the request', { concurrency: 4 }, () => {
  const cases: readonly (readonly [string, (context: TestContext) => Promise<{ readonly baseUrl: string }>])[] = [
    ['is dead', async () => ({ baseUrl: `http://127.0.0.1:${await unusedPort()}/v1` })],
    ['answers 503', (context) => upstream(context, busy)],
    ['is limited', (context) => upstream(context, limited)],
    ['breaks off before its first word', (context) => upstream(context, () => ({ text: ['x'], cutAfter: 0 }))],
  ];
  for (const [title, open] of cases) {
    for (const stream of [false, true]) {
      test(`the first ${title}${stream ? ', streamed' : ''}: the next one answers, and the client is told`, async (context) => {
        const first = await open(context);
        const second = await upstream(context, says('second'));
        const { origin } = await gateway(context, `providers:\n${row('one', first)}${row('two', second)}`);
        const received = await askChat(origin, { model: 'one/m', models: ['nobody/has-this', 'two/m'], stream });
        assert.equal(received.status, 200);
        assert.match(received.body, /second/);
        assert.equal(provider(received.headers), 'two');
        assert.equal(received.headers['x-sluice-model'], 'm');
        assert.equal(received.headers['x-sluice-attempts'], '2');
        const [sent] = second.chats;
        assert.ok(!('models' in ((sent?.body ?? {}) as Json)), 'the list is no business of an upstream');
      });
    }
  }

  test('works in dialect A, and without `model`', async (context) => {
    const [one, two] = [await upstream(context, busy), await upstream(context, says('second'))];
    const { origin } = await gateway(context, `providers:\n${row('one', one)}${row('two', two)}`);
    const received = await askConversation(origin, { models: ['one/m', 'two/m'] });
    assert.match(received.body, /second/);
    assert.equal(provider(received.headers), 'two');
  });

  test('the first fails after its first visible chunk: the client sees what there was, then the error, and nobody else is asked', async (context) => {
    const one = await upstream(context, () => ({ text: ['half', ' an', ' answer'], cutAfter: 1 }));
    const two = await upstream(context, says('second'));
    const { origin } = await gateway(context, `providers:\n${row('one', one)}${row('two', two)}`);
    const said = readChatStream(await askChat(origin, { model: 'one/m', models: ['two/m'], stream: true }));
    assert.equal(said.text, 'half');
    assert.ok(said.error);
    assert.equal(two.chats.length, 0);
  });

  test('a slow first one is left at its deadline', async (context) => {
    const one = await upstream(context, () => ({ silent: true }));
    const two = await upstream(context, says('second'));
    const { origin } = await gateway(
      context,
      `providers:\n${row('one', one)}${row('two', two)}limits: { firstByteMs: 2000 }\n`,
    );
    const received = await askChat(origin, { model: 'one/m', models: ['two/m'] });
    assert.match(received.body, /second/);
  });

  test('all fail: the last error is told', async (context) => {
    const [one, two] = [await upstream(context, busy), await upstream(context, limited)];
    const { origin } = await gateway(
      context,
      `providers:\n${row('one', one)}${row('two', two)}limits: { attempts: 2 }\n`,
    );
    const received = await askChat(origin, { model: 'one/m', models: ['two/m'] });
    assert.equal(received.status, 429);
    assert.equal(received.headers['retry-after'], '30');
  });

  test('nobody offers any of them', async (context) => {
    const { origin } = await gateway(context, 'embedded: { enabled: false }\n');
    const received = await askChat(origin, { model: 'x', models: ['y'] });
    assert.equal(received.status, 404);
    assert.match(String(readError(received)['message']), /'x'/);
  });

  test('a list that is none names the field', async (context) => {
    const { origin } = await gateway(context, 'embedded: { enabled: false }\n');
    for (const models of ['m', [1], Array.from({ length: 21 }, () => 'm')]) {
      const received = await askChat(origin, { models });
      assert.equal(received.status, 422);
      assert.match(String(readError(received)['param']), /^models/);
    }
  });
});

describe('balance', { concurrency: 4 }, () => {
  test('weighted: weight 0 only when nothing else is left, and a session stays where it is', async (context) => {
    const [one, two, spare] = await Promise.all(
      ['one', 'two', 'spare'].map((text) => upstream(context, says(text), ['shared'])),
    );
    assert.ok(one && two && spare);
    const { origin } = await gateway(
      context,
      `routing: { choice: weighted }\nproviders:\n${row('one', one, 'apiKey: a, weight: 2')}${row('two', two, 'apiKey: b, weight: 2')}${row('spare', spare, 'apiKey: c, weight: 0')}`,
    );
    const asked = await Promise.all(Array.from({ length: 60 }, () => askChat(origin, { model: 'shared' })));
    // That one of two equals never gets its turn in 60 draws happens once in 10^17.
    assert.deepEqual(new Set(asked.map(({ headers }) => provider(headers))), new Set(['one', 'two']));
    const body = { model: 'shared', messages: QUESTION };
    const inSession = (headers: Readonly<Record<string, string>>, more: Json = {}) =>
      ask(origin, '/v1/chat/completions', { ...body, ...more }, { headers });
    for (const [name, headers, more] of [
      ['header', { 'x-sluice-session': 'ann' }, {}],
      ['conversation_id', {}, { conversation_id: 'c-1' }],
      ['prompt_cache_key', {}, { prompt_cache_key: 'k-1' }],
    ] as const) {
      const seen = new Set<unknown>();
      for (let count = 0; count < 30; count += 1) seen.add(provider((await inSession(headers, more)).headers));
      assert.equal(seen.size, 1, name);
    }
  });

  test('an answer in the background belongs to the session that the header names, too', async (context) => {
    const [one, two] = [
      await upstream(context, says('one'), ['shared']),
      await upstream(context, says('two'), ['shared']),
    ];
    const { origin } = await gateway(
      context,
      `routing: { choice: weighted }\nproviders:\n${row('one', one)}${row('two', two)}`,
    );
    const inSession = { headers: { 'x-sluice-session': 'ann' } };
    for (let count = 0; count < 20; count += 1) {
      // With another key of its own each, which the header beats.
      const body = { model: 'shared', input: 'Hi', background: true, stream: true, prompt_cache_key: `k-${count}` };
      assert.match((await ask(origin, '/v1/responses', body, inSession)).body, /"response\.completed"/);
    }
    assert.deepEqual([one.chats.length, two.chats.length].sort(), [0, 20]);
  });

  test('a session stays with whoever took over, also when the former one is well again', async (context) => {
    let ill = '';
    const either = (name: string) =>
      upstream(context, () => (ill === name ? { status: 503, errorMessage: 'busy' } : { text: [name] }), ['shared']);
    const { origin } = await gateway(
      context,
      `routing: { choice: weighted }\nproviders:\n${row('one', await either('one'))}${row('two', await either('two'))}`,
    );
    const inSession = async (): Promise<string> =>
      String(provider((await askChat(origin, { model: 'shared', conversation_id: 'c-1' })).headers));
    ill = await inSession();
    const other = ill === 'one' ? 'two' : 'one';
    assert.equal(await inSession(), other);
    const former = ill;
    ill = '';
    // Its answer ends the rest that its failure has brought it.
    assert.equal((await askChat(origin, { model: `${former}/shared` })).status, 200);
    assert.equal(await inSession(), other);
  });

  test('an alias may be a group of equals', async (context) => {
    const [one, two] = [await upstream(context, says('one')), await upstream(context, says('two'))];
    const { origin } = await gateway(
      context,
      `providers:\n${row('one', one)}${row('two', two)}aliases:\n  mixed:\n    models: [one/m, { model: two/m, weight: 3 }]\n  never:\n    models: [one/m, { model: two/m, weight: 0 }]\n`,
    );
    const asked = await Promise.all(Array.from({ length: 60 }, () => askChat(origin, { model: 'mixed' })));
    assert.deepEqual(new Set(asked.map(({ headers }) => provider(headers))), new Set(['one', 'two']));
    const others = await Promise.all(Array.from({ length: 20 }, () => askChat(origin, { model: 'never' })));
    assert.deepEqual(new Set(others.map(({ headers }) => provider(headers))), new Set(['one']));
  });

  test('latency: after each has answered once, the faster one is asked', async (context) => {
    const slow = await upstream(context, () => ({ text: ['slow'], delayMs: 3_000 }), ['shared']);
    const fast = await upstream(context, says('fast'), ['shared']);
    const { origin } = await gateway(
      context,
      `routing: { choice: latency }\nproviders:\n${row('slow', slow)}${row('fast', fast)}`,
    );
    await askChat(origin, { model: 'shared' });
    await askChat(origin, { model: 'shared' });
    assert.deepEqual([slow.chats.length, fast.chats.length], [1, 1]);
    for (let count = 0; count < 5; count += 1) {
      assert.equal(provider((await askChat(origin, { model: 'shared' })).headers), 'fast');
    }
  });
});

describe('several keys', { concurrency: 4 }, () => {
  const keyOf = ({ headers }: { readonly headers: { readonly authorization?: string | undefined } }): string =>
    headers.authorization ?? '';

  test('take turns', async (context) => {
    const one = await upstream(context, says('x'));
    const { origin } = await gateway(
      context,
      `providers:\n${row('one', one, 'apiKeys: [key-number-1, key-number-2]')}`,
    );
    for (let count = 0; count < 4; count += 1) await askChat(origin, { model: 'one/m' });
    assert.deepEqual(one.chats.map(keyOf), [
      'Bearer key-number-1',
      'Bearer key-number-2',
      'Bearer key-number-1',
      'Bearer key-number-2',
    ]);
  });

  for (const [title, script] of [
    ['limited', limited],
    // For longer than a busy machine takes for all of this: by itself it would rest for a second.
    ['refused', (() => ({ status: 401, errorMessage: 'bad key', headers: { 'retry-after': '60' } })) as VendorScript],
  ] as const) {
    test(`one that is ${title} rests, and no client hears of it`, async (context) => {
      const one = await upstream(context, (request) =>
        keyOf(request) === 'Bearer key-number-1' ? script(request) : { text: ['fine'] },
      );
      const { origin } = await gateway(
        context,
        `providers:\n${row('one', one, 'apiKeys: [key-number-1, key-number-2, key-number-3]')}`,
      );
      for (let count = 0; count < 6; count += 1) {
        const received = await askChat(origin, { model: 'one/m' });
        assert.equal(received.status, 200);
        assert.equal(received.headers['x-sluice-attempts'], count === 0 ? '2' : '1');
      }
      assert.equal(one.chats.filter((chat) => keyOf(chat) === 'Bearer key-number-1').length, 1);
    });
  }

  test("a client's own key is used instead, and no key shows anywhere", async (context) => {
    const one = await upstream(context, (request) => ({ status: 400, errorMessage: `no: ${keyOf(request)}` }));
    const { origin } = await gateway(
      context,
      `providers:\n${row('one', one, 'apiKeys: [key-number-1, key-number-2]')}`,
    );
    const own = await askChat(origin, { provider: 'one', model: 'm', api_key: 'key-of-client' });
    assert.equal(one.chats.at(-1) && keyOf(one.chats.at(-1) as never), 'Bearer key-of-client');
    const ours = await askChat(origin, { model: 'one/m' });
    assert.doesNotMatch(own.body + ours.body, /key-number|key-of-client/);
  });
});

describe('fields without a place', { concurrency: 4 }, () => {
  test('are told in x-sluice-dropped, and refused when the client is strict', async (context) => {
    const one = await upstream(context, says('x'));
    const { origin } = await gateway(context, `providers:\n${row('one', one)}`);
    const body = { model: 'one/m', messages: QUESTION, base_url: 'http://elsewhere.example' };
    const lax = await ask(origin, '/v1/chat/completions', body);
    assert.equal(lax.status, 200);
    assert.equal(lax.headers['x-sluice-dropped'], 'base_url');
    for (const [more, headers] of [
      [{ strict: true }, {}],
      [{}, { 'x-sluice-strict': '1' }],
    ] as const) {
      const strict = await ask(origin, '/v1/chat/completions', { ...body, ...more }, { headers });
      assert.equal(strict.status, 400);
      const error = readError(strict);
      assert.equal(error['code'], 'unsupported_field');
      assert.equal(error['param'], 'base_url');
    }
    const clean = await ask(origin, '/v1/chat/completions', { model: 'one/m', messages: QUESTION, strict: true });
    assert.equal(clean.status, 200);
    assert.equal(clean.headers['x-sluice-dropped'], undefined);
    assert.ok(!('strict' in ((one.chats.at(-1)?.body ?? {}) as Json)));
  });

  test('extra_body replaces nothing that is Sluice’s to read', async (context) => {
    const one = await upstream(context, says('x'));
    const { origin } = await gateway(context, `providers:\n${row('one', one)}`);
    const extra = { messages: [], model: 'other', stream: true, stream_options: 1, n: 'two', temperature: 0.5, own: 1 };
    const answer = await ask(origin, '/v1/chat/completions', { model: 'one/m', messages: QUESTION, extra_body: extra });
    assert.equal(answer.status, 200);
    const sent = one.chats.at(-1)?.body;
    assert.deepEqual(sent, { model: 'm', messages: QUESTION, temperature: 0.5, own: 1 });
    const dropped = ['messages', 'model', 'stream', 'stream_options', 'n']
      .map((name) => `extra_body.${name}`)
      .join(', ');
    assert.equal(answer.headers['x-sluice-dropped'], dropped);
  });
});
