import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { eventually } from '../support/eventually.ts';
import { chat, type Entry, entryOf, logged, metric, type ObservedWorld, openObserved } from './observe-world.ts';

const A = '/backend-api/v2';
const ask = (world: ObservedWorld, path: string, body: object, headers = {}) =>
  fetch(`${world.origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const MESSAGES = [{ role: 'user', content: 'The planted question' }];

describe('the request log', { timeout: 60_000 }, () => {
  let world: ObservedWorld;
  before(async () => {
    world = await openObserved();
  });
  after(() => world.close());

  test('a streamed answer by the official client: who, how long, how many tokens, what it cost', async () => {
    const client = new OpenAI({ baseURL: `${world.origin}/v1`, apiKey: 'any', defaultHeaders: { 'x-user': 'ann' } });
    const { data: stream, response } = await client.chat.completions
      .create({ model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }], stream: true })
      .withResponse();
    for await (const _ of stream);
    const entry = await entryOf(world, response.headers.get('x-request-id') ?? '');
    assert.deepEqual(
      { ...entry, time: '', first_chunk_ms: 0, duration_ms: 0 },
      {
        id: response.headers.get('x-request-id'),
        time: '',
        method: 'POST',
        route: '/v1/chat/completions',
        dialect: 'openai',
        operation: 'chat',
        user: 'ann',
        asked: 'openai/gpt-4o',
        provider: 'openai',
        model: 'gpt-4o',
        status: 200,
        error: null,
        stream: true,
        first_chunk_ms: 0,
        duration_ms: 0,
        usage: {
          prompt_tokens: 1_000,
          completion_tokens: 100,
          total_tokens: 1_100,
          cached_tokens: 0,
          cache_write_tokens: 0,
          reasoning_tokens: 0,
          estimated: false,
        },
        cost: 0.0035,
        attempts: 1,
        failed_attempts: [],
        has_content: false,
        request: null,
        answer: null,
      },
    );
    assert.ok(Math.abs(Date.now() - Date.parse(entry.time)) < 60_000);
    assert.ok(entry.first_chunk_ms > 0 && entry.first_chunk_ms <= entry.duration_ms);
  });

  test('what has no known price costs null, and a whole answer has no first chunk', async () => {
    const { id } = await chat(world);
    const entry = await entryOf(world, id);
    assert.deepEqual([entry.cost, entry.first_chunk_ms, entry.stream], [null, null, false]);
    assert.equal(entry.usage.prompt_tokens, 11);
  });

  test('every dialect is there, with its name', async () => {
    const key = { 'anthropic-version': '2023-06-01' };
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
    const requests: readonly [string, object, object][] = [
      [`${A}/conversation`, { provider: 'acme', messages: MESSAGES }, {}],
      ['/v1/responses', { model: 'acme/test-model', input: 'Hi' }, {}],
      ['/v1/messages', { model: 'acme/test-model', max_tokens: 5, messages: MESSAGES }, key],
      ['/v1beta/models/acme/test-model:generateContent', { contents }, {}],
      ['/api/chat', { model: 'acme/test-model', messages: MESSAGES }, {}],
      ['/api/acme/chat/completions', { messages: MESSAGES }, {}],
    ];
    const entries: Entry[] = [];
    for (const [path, body, headers] of requests) {
      const response = await ask(world, path, body, headers);
      await response.text();
      assert.equal(response.status, 200, path);
      entries.push(await entryOf(world, response.headers.get('x-request-id') ?? ''));
    }
    const response = await fetch(`${world.origin}${A}/create?prompt=Hi&provider=acme`);
    await response.text();
    entries.push(await entryOf(world, response.headers.get('x-request-id') ?? ''));
    assert.deepEqual(
      entries.map(({ dialect, operation, provider, model, status }) => [dialect, operation, provider, model, status]),
      ['backend', 'responses', 'anthropic', 'gemini', 'ollama', 'openai', 'backend'].map((dialect) => [
        dialect,
        'chat',
        'acme',
        'test-model',
        200,
      ]),
    );
    for (const { usage } of entries) assert.ok(usage.total_tokens > 0);
  });

  test('failed attempts, and who answered in the end', async () => {
    world.answers(({ model }) => (model === 'test-model' ? { status: 503 } : { text: ['Hi'] }));
    const { id, status } = await chat(world, { models: ['acme/other-model'] });
    assert.equal(status, 200);
    const entry = await entryOf(world, id);
    assert.deepEqual([entry.provider, entry.model, entry.asked], ['acme', 'other-model', 'acme/test-model']);
    assert.equal(entry.attempts, entry.failed_attempts.length + 1);
    const [failure] = entry.failed_attempts;
    assert.deepEqual(
      [failure.provider, failure.model, failure.code, failure.status],
      ['acme', 'test-model', 'overloaded', 503],
    );
    assert.ok(failure.duration_ms > 0);
  });

  test('a stream that breaks off has an error although it said 200', async () => {
    world.answers({ text: ['one', 'two', 'three'], cutAfter: 2 });
    for (const body of [{ stream: true }, { stream: true, download_media: true }]) {
      const { id, status } = await chat(world, body);
      const entry = await entryOf(world, id);
      assert.deepEqual([status, entry.status, entry.error.code], [200, 200, 'upstream_cut']);
      assert.equal(entry.error.message, null, 'no words of upstreams');
    }
    const kept = await ask(world, `${A}/conversation`, { provider: 'acme', resumable: true, messages: MESSAGES });
    await kept.text();
    const entry = await entryOf(world, kept.headers.get('x-request-id') ?? '');
    assert.deepEqual([entry.status, entry.error.code], [200, 'upstream_cut']);
  });

  test('a failure within an answer is the upstream’s, in every dialect, and the log has it', async () => {
    world.answers({ text: ['one ', 'two ', 'three'], errorAfter: 2, errorMessage: 'Out of steam' });
    const model = 'acme/test-model';
    const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
    const requests: readonly [string, object][] = [
      ['/v1/chat/completions', { model, messages: MESSAGES, stream: true }],
      ['/v1/chat/completions', { model, messages: MESSAGES, stream: true, download_media: true }],
      ['/v1/responses', { model, input: 'Hi', stream: true }],
      ['/v1/responses', { model, input: 'Hi', background: true }],
      ['/v1/messages', { model, max_tokens: 5, messages: MESSAGES, stream: true }],
      [`/v1beta/models/${model}:streamGenerateContent`, { contents }],
      ['/api/chat', { model, messages: MESSAGES }],
      [`${A}/conversation`, { provider: 'acme', messages: MESSAGES }],
      [`${A}/conversation`, { provider: 'acme', messages: MESSAGES, resumable: true }],
    ];
    for (const [path, body] of requests) {
      const response = await ask(world, path, body);
      await response.text();
      const what = `${path} ${JSON.stringify(body)}`;
      const id = response.headers.get('x-request-id') ?? '';
      const entry = await entryOf(world, id);
      assert.deepEqual([response.status, entry.status, entry.error?.code], [200, 200, 'provider_failed'], what);
      const lines = world.log.lines.filter(
        ({ fields, level }) => level !== 'info' && 'id' in fields && fields.id === id,
      );
      assert.deepEqual(
        lines.map(({ level, message }) => [level, message]),
        [['warn', 'an answer failed after it had begun']],
        what,
      );
      // The upstream's words may quote what was said.
      assert.deepEqual(
        lines.map(({ fields }) => fields),
        [{ id, code: 'provider_failed', status: 500, provider: 'acme', model: 'test-model' }],
        what,
      );
    }
    const created = await fetch(`${world.origin}${A}/create?prompt=Hi&provider=acme`);
    await assert.rejects(created.text());
    const entry = await entryOf(world, created.headers.get('x-request-id') ?? '');
    assert.deepEqual([entry.status, entry.error?.code], [200, 'provider_failed']);
  });

  test('one that nobody could begin is told as a chunk, and is a failure', async () => {
    world.answers({ status: 401, errorMessage: 'Who are you?' });
    for (const resumable of [false, true]) {
      const response = await ask(world, `${A}/conversation`, { provider: 'acme', messages: MESSAGES, resumable });
      assert.match(await response.text(), /event: auth/);
      const entry = await entryOf(world, response.headers.get('x-request-id') ?? '');
      assert.deepEqual([entry.status, entry.error?.code], [200, 'missing_credentials']);
    }
  });

  test('one that fails before it begins is the upstream’s failure, also where it would have outlived its connection', async () => {
    for (const [status, code] of [
      [400, 'invalid_request'],
      [429, 'rate_limited'],
    ] as const) {
      world.answers({ status, headers: { 'retry-after': '60' } });
      for (const resumable of [false, true]) {
        const body = { provider: 'acme', model: `m-${status}-${resumable}`, messages: MESSAGES, resumable };
        const response = await ask(world, `${A}/conversation`, body);
        assert.equal(response.status, status);
        const entry = await entryOf(world, response.headers.get('x-request-id') ?? '');
        assert.deepEqual([entry.status, entry.error?.code], [status, code]);
      }
    }
  });

  test('leaving an answer that goes on is no end of it; stopping it is', async () => {
    for (const isStopped of [false, true]) {
      const { promise: goOn, resolve } = Promise.withResolvers<void>();
      world.answers({ text: ['one', 'two'], afterPiece: () => goOn });
      const leaving = new AbortController();
      const response = await fetch(`${world.origin}${A}/conversation`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider: 'acme', messages: MESSAGES, resumable: true }),
        signal: leaving.signal,
      });
      await response.body?.getReader().read();
      leaving.abort();
      // Of two, its own and that of its first reader.
      await eventually('it has left', async () => (await metric(world, 'sluice_requests_running')) === 1);
      const stream = `${world.origin}${A}/streams/${response.headers.get('x-sluice-stream')}`;
      const following = fetch(stream).then((again) => again.text());
      if (isStopped) await (await fetch(stream, { method: 'DELETE' })).text();
      resolve();
      await following;
      const entry = await entryOf(world, response.headers.get('x-request-id') ?? '');
      assert.deepEqual([entry.status, entry.error?.code], isStopped ? [200, 'cancelled'] : [200, undefined]);
    }
  });

  test('a client that leaves is 499', async () => {
    world.answers({ text: ['one', 'two'], stallAfter: 1 });
    const leaving = new AbortController();
    const response = await fetch(`${world.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/test-model', messages: MESSAGES, stream: true }),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    const entry = await entryOf(world, response.headers.get('x-request-id') ?? '');
    assert.deepEqual([entry.status, entry.error.code, entry.provider], [499, 'cancelled', 'acme']);
  });

  test('what was refused before anybody was asked is there; what is no request to a model is not', async () => {
    world.answers({ text: ['Hi'] });
    const { id, status } = await chat(world, { messages: 'none' });
    const entry = await entryOf(world, id);
    assert.deepEqual([status, entry.status, entry.error.code, entry.attempts], [422, 422, 'invalid_field', 0]);
    assert.deepEqual([entry.provider, entry.model, entry.cost], [null, null, null]);
    const missing = await chat(world, { model: 'nobody-has-this' });
    assert.equal((await entryOf(world, missing.id)).asked, 'nobody-has-this');
    const { total } = await logged(world);
    for (const path of ['/v1/models', '/', '/nowhere', `${A}/requests`, '/health'])
      await (await fetch(`${world.origin}${path}`)).text();
    assert.equal((await logged(world)).total, total);
  });

  test('nothing of the content is kept, here or in the log', async () => {
    const { id } = await chat(world, { messages: MESSAGES, api_key: 'planted-client-key' });
    await entryOf(world, id);
    const all = JSON.stringify(await logged(world, '?limit=1000')) + JSON.stringify(world.log.lines);
    assert.doesNotMatch(all, /planted/);
  });

  test('is filtered, and read page by page', async () => {
    const all = await logged(world, '?limit=1000');
    assert.equal(all.total, all.requests.length);
    assert.equal(all.next, null);
    const failed = await logged(world, '?status=error&limit=1000');
    assert.ok(failed.total > 3 && failed.total < all.total);
    assert.ok(failed.requests.every(({ status, error }) => status >= 400 || error !== null));
    assert.equal((await logged(world, '?provider=OPENAI')).total, 1);
    assert.equal((await logged(world, '?user=ann&text=GPT-4O')).total, 1);
    assert.equal((await logged(world, '?status=422')).total, 1);
    assert.equal((await logged(world, '?status=ERROR')).total, failed.total);
    const classes = await Promise.all(['4xx', '4XX'].map((status) => logged(world, `?status=${status}`)));
    assert.ok(classes[0] !== undefined && classes[0].total > 0);
    assert.equal(classes[1]?.total, classes[0].total);
    assert.equal((await logged(world, '?provider=&model=&status=&text=')).total, all.total, 'an empty filter is none');
    const ids: string[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const page: Awaited<ReturnType<typeof logged>> = await logged(world, `?limit=3&before=${next}`);
      ids.push(...page.requests.map((entry) => entry.id));
      next = page.next;
    }
    assert.deepEqual(
      ids,
      all.requests.map((entry) => entry.id),
    );
    const [newest] = all.requests;
    assert.equal((await logged(world, `?after=${newest.id}`)).total, 0);
    assert.equal((await logged(world, `?after=${encodeURIComponent(newest.time)}`)).total, 0);
    assert.equal((await logged(world, '?before=2020-01-01')).total, 0);
    assert.equal((await logged(world, '?after=0')).total, all.total);
  });

  test('a filter that makes no sense is refused, with its name', async () => {
    for (const [query, param] of [
      ['limit=0', 'limit'],
      ['limit=x', 'limit'],
      ['status=great', 'status'],
      ['before=yesterday', 'before'],
      ['after=2026-99-99', 'after'],
    ] as const) {
      const response = await fetch(`${world.origin}${A}/requests?${query}`);
      const { error } = (await response.json()) as Entry;
      assert.deepEqual([response.status, error.param], [400, param], query);
    }
    for (const id of ['nobody', '..', '%00', '__proto__', 'x'.repeat(300)]) {
      const response = await fetch(`${world.origin}${A}/requests/${encodeURIComponent(id)}`);
      await response.text();
      assert.ok([400, 404].includes(response.status), id);
    }
  });

  test('outlives a restart, and what is forgotten stays forgotten', async () => {
    const { requests, total } = await logged(world, '?limit=1000');
    await world.restart();
    assert.deepEqual(await logged(world, '?limit=1000'), { requests, total, kept: total, next: null, mode: 'meta' });
    const { id } = await chat(world);
    await entryOf(world, id);
    const response = await fetch(`${world.origin}${A}/requests`, { method: 'DELETE' });
    assert.deepEqual(await response.json(), { count: total + 1 });
    assert.equal((await logged(world)).total, 0);
    await world.restart();
    assert.equal((await logged(world)).total, 0);
  });
});

test('a run by a clock that was far behind loses nothing of the request log', { timeout: 60_000 }, async (context) => {
  const world = await openObserved();
  context.after(() => world.close());
  const { id } = await chat(world);
  await entryOf(world, id);
  await world.restart();
  const clock = context.mock.method(Date, 'now', () => 0);
  await world.restart();
  await chat(world);
  await eventually('both are there', async () => (await logged(world)).total === 2);
  await world.restart();
  clock.mock.restore();
  await world.restart();
  assert.equal((await entryOf(world, id)).id, id);
});

describe('the request log with content', { timeout: 60_000 }, () => {
  let world: ObservedWorld;
  before(async () => {
    world = await openObserved({ requestLog: 'full' });
  });
  after(() => world.close());

  const QUESTION = {
    api_key: 'planted-client-key',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it? My key is planted-upstream-key.' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(4_000)}` } },
        ],
      },
    ],
  };
  const CALLS = [{ id: 'call_1', name: 'look', arguments: ['{"at":', '"it"}'] }];

  test('goes with the words of an upstream that breaks off, in the log of the process', async () => {
    world.answers({ text: ['one ', 'two'], errorAfter: 1, errorMessage: 'Out of steam' });
    const response = await ask(world, '/v1/chat/completions', {
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    });
    await response.text();
    const late = await eventually('it is logged', () =>
      world.log.lines.find(({ message }) => message === 'an answer failed after it had begun'),
    );
    assert.match(JSON.stringify(late.fields), /"error":"[^"]*Out of steam/);
  });

  test('has request and answer of a stream, of a whole answer, and of what is not relayed', async () => {
    world.answers({ reasoning: ['Hm', 'm'], text: ['A pla', 'nted-upstream-key, ', 'grüße'], toolCalls: CALLS });
    for (const more of [{}, { stream: true }, { stream: true, download_media: true }]) {
      const { id } = await chat(world, { ...QUESTION, ...more });
      const entry = await entryOf(world, id);
      assert.equal(entry.has_content, true);
      assert.equal(entry.request.body.model, 'acme/test-model');
      assert.equal(entry.request.body.api_key, '[hidden]');
      const [text, image] = entry.request.body.messages[0].content;
      assert.equal(text.text, 'What is it? My key is ***.');
      assert.equal(image.image_url.url, 'data:image/png;base64,[4000 characters]');
      assert.deepEqual(entry.answer, {
        text: 'A ***, grüße',
        reasoning: 'Hmm',
        tool_calls: [{ name: 'look', arguments: '{"at":"it"}' }],
        truncated: false,
      });
    }
  });

  test('is searched for its content, and keeps the words of errors without secrets', async () => {
    assert.equal((await logged(world, '?text=GR%C3%9C%C3%9FE')).total, 3);
    world.answers({ status: 400, errorMessage: 'No such thing as planted-upstream-key here' });
    const { id } = await chat(world);
    const { error } = await entryOf(world, id);
    assert.match(error.message, /No such thing as \*\*\* here/);
  });

  test('a form has no body here, and a prompt of an address has one', async () => {
    world.answers({ text: ['Hi'] });
    const response = await fetch(`${world.origin}${A}/create?prompt=Moonlight&provider=acme`);
    await response.text();
    const entry = await entryOf(world, response.headers.get('x-request-id') ?? '');
    assert.deepEqual(entry.request.body, { prompt: 'Moonlight', provider: 'acme' });
    assert.equal(entry.answer.text, 'Hi');
    const form = new FormData();
    form.set('json', JSON.stringify({ provider: 'acme', messages: MESSAGES }));
    const posted = await fetch(`${world.origin}${A}/conversation`, { method: 'POST', body: form });
    await posted.text();
    assert.equal((await entryOf(world, posted.headers.get('x-request-id') ?? '')).request, null);
  });

  test('no secret is anywhere, and content goes when it is no longer wanted', async () => {
    const shown = async (): Promise<string> => {
      const { requests } = await logged(world, '?limit=1000');
      return JSON.stringify(await Promise.all(requests.map(({ id }) => entryOf(world, id))));
    };
    assert.doesNotMatch((await shown()) + JSON.stringify(world.log.lines), /planted/);
    await world.restart();
    const before = await shown();
    // Of what was asked or answered, and of what an upstream says of it.
    const words = [/Moonlight/, /No such thing/];
    for (const each of words) assert.match(before, each);
    await world.restart({ requestLog: 'meta' });
    const after = await shown();
    for (const each of words) assert.doesNotMatch(after, each);
    assert.match(after, /"code":"invalid_request"/, 'the kind of an error stays');
    await world.restart({ requestLog: 'full' });
    const later = await shown();
    for (const each of words) assert.doesNotMatch(later, each, 'it is gone from the disk too');
  });
});

describe('what is asked at an address', { timeout: 60_000 }, () => {
  test('is noted, whether it is answered or not', async () => {
    const world = await openObserved();
    try {
      const model = 'acme/test-model';
      const content = { parts: [{ text: 'Hi' }] };
      const requests: readonly [string, object, string, string][] = [
        ['/v1/responses/input_tokens', { model, input: 'Hi' }, 'responses', 'count_tokens'],
        ['/v1/messages/count_tokens', { model, messages: MESSAGES }, 'anthropic', 'count_tokens'],
        ['/api/acme/v1/messages', { model, max_tokens: 5, messages: MESSAGES }, 'anthropic', 'chat'],
        [`/v1beta/models/${model}:countTokens`, { contents: [content] }, 'gemini', 'count_tokens'],
        [`/v1beta/models/${model}%3AgenerateContent?x=:y`, { contents: [content] }, 'gemini', 'chat'],
        [`/v1/models/${model}:streamGenerateContent`, { contents: [content] }, 'gemini', 'chat'],
        [`/v1beta/models/${model}:divine`, {}, 'gemini', 'chat'],
        ...['v1', 'v1beta'].flatMap((version): [string, object, string, string][] => [
          [`/${version}/models/${model}:embedContent`, { content }, 'gemini', 'embedding'],
          [`/${version}/models/${model}:batchEmbedContents`, { requests: [{ content }] }, 'gemini', 'embedding'],
        ]),
        ['/v1/embeddings', { model, input: 'Hi' }, 'openai', 'embedding'],
        ['/v2/rerank', { model, query: 'Hi', documents: ['a'] }, 'openai', 'rerank'],
        ['/v1/media/generate', { model, prompt: 'Hi' }, 'openai', 'image'],
        ['/api/acme/audio/speech', { input: 'Hi' }, 'openai', 'speech'],
        ['/api/generate', { model, prompt: 'Hi', stream: false }, 'ollama', 'completion'],
        ['/api/embed', { model, input: 'Hi' }, 'ollama', 'embedding'],
      ];
      for (const [path, body, dialect, operation] of requests) {
        const response = await ask(world, path, body);
        await response.text();
        const entry = await entryOf(world, response.headers.get('x-request-id') ?? '');
        assert.deepEqual([entry.dialect, entry.operation], [dialect, operation], path);
      }
      // A model whose name has a colon is looked at, not asked.
      for (const name of ['llama3:latest', 'acme:test-model', 'test-model?x=y:generateContent']) {
        const response = await ask(world, `/v1/models/${name}`, {});
        const { total } = await logged(world, `?text=${response.headers.get('x-request-id')}`);
        assert.equal(total, 0, name);
      }
    } finally {
      await world.close();
    }
  });
});

describe('the request log of whoever wants none, or has a key', { timeout: 60_000 }, () => {
  test('nothing is kept, and what was is forgotten', async () => {
    const world = await openObserved();
    try {
      await entryOf(world, (await chat(world)).id);
      await world.restart({ requestLog: 'none' });
      const { id } = await chat(world);
      assert.deepEqual(await logged(world), { requests: [], total: 0, kept: 0, next: null, mode: 'none' });
      const response = await fetch(`${world.origin}${A}/requests/${id}`);
      assert.match(await response.text(), /switched off/);
      await world.restart({ requestLog: 'meta' });
      assert.equal((await logged(world)).total, 0);
    } finally {
      await world.close();
    }
  });

  test('only the holder of the access key reads and deletes; whoever is not let in leaves no trace', async () => {
    const world = await openObserved({}, 'key: access-key-of-the-test');
    const authorization = { authorization: 'Bearer access-key-of-the-test' };
    try {
      assert.equal((await chat(world)).status, 401);
      assert.equal((await chat(world, {}, authorization)).status, 200);
      for (const [method, path] of [
        ['GET', 'requests'],
        ['GET', 'requests/x'],
        ['DELETE', 'requests'],
      ] as const) {
        const response = await fetch(`${world.origin}${A}/${path}`, { method });
        await response.text();
        assert.equal(response.status, 401, path);
      }
      const { requests } = await logged(world, '', authorization);
      assert.deepEqual(
        requests.map(({ status }) => status),
        [200],
      );
      const foreign = await fetch(`${world.origin}${A}/requests`, {
        headers: { ...authorization, origin: 'https://evil.example' },
      });
      await foreign.text();
      assert.equal(foreign.status, 403);
    } finally {
      await world.close();
    }
  });
});
