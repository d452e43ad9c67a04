import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { type EmbeddingScript, startEmbeddingUpstream } from '../support/embedding-upstream.ts';
import { eventually } from '../support/eventually.ts';
import type { OpenAiUpstream } from '../support/openai-upstream.ts';
import { usageLines } from '../support/usage.ts';
import { type AcmeWorld, openAcme, type Told } from './acme-world.ts';

interface World extends Omit<AcmeWorld<OpenAiUpstream>, 'post'> {
  post(body: unknown, path?: string): Promise<Told>;
}

async function world(script: EmbeddingScript = {}, more = ''): Promise<World> {
  const acme = await openAcme(await startEmbeddingUpstream(script), more);
  return {
    ...acme,
    post: (body, path = '/v1/embeddings') =>
      acme.post(path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  };
}

const bodiesOf = ({ upstream }: World): Record<string, unknown>[] =>
  upstream.requests.flatMap(({ path, body }) => (path === '/v1/embeddings' ? [body as Record<string, unknown>] : []));

describe('POST /v1/embeddings, by an upstream that has it', () => {
  let here: World;
  before(async () => {
    here = await world({}, 'aliases: { vectors: [acme/text-embedding-test] }');
  });
  after(() => here.close());

  test('the official client gets its vectors', async () => {
    const { data, model, usage } = await here.client.embeddings.create({
      model: 'text-embedding-test',
      input: ['a', 'bcd'],
      dimensions: 3,
      user: 'someone',
    });
    assert.deepEqual(
      data.map(({ embedding, index }) => ({ embedding, index })),
      [
        { embedding: [1, 0.5, -1], index: 0 },
        { embedding: [3, 0.5, -1], index: 1 },
      ],
    );
    assert.equal(model, 'text-embedding-test-2026');
    assert.deepEqual(usage, { prompt_tokens: 4, total_tokens: 4 });
    assert.deepEqual(bodiesOf(here).at(-1), {
      model: 'text-embedding-test',
      input: ['a', 'bcd'],
      // What this client asks for unless it is told otherwise.
      encoding_format: 'base64',
      dimensions: 3,
      user: 'someone',
    });
  });

  for (const [name, body, path] of [
    ['nobody: whoever lists a model for it', {}, undefined],
    ['the provider', { provider: 'acme' }, undefined],
    ['the provider in the path', { model: 'text-embedding-test' }, '/api/acme/embeddings'],
    ['provider/model', { model: 'acme/text-embedding-test' }, undefined],
    ['an alias', { model: 'vectors' }, undefined],
    ['models in order', { model: 'claude/claude-test', models: ['text-embedding-test'] }, undefined],
  ] as const) {
    test(`asked of ${name}`, async () => {
      const { status, headers, text } = await here.post({ input: 'Hello', ...body }, path);
      assert.equal(status, 200, text);
      assert.equal(headers.get('x-sluice-provider'), 'acme');
      assert.equal(headers.get('x-sluice-model'), 'text-embedding-test');
      assert.equal(bodiesOf(here).at(-1)?.['model'], 'text-embedding-test');
    });
  }

  test('the bytes of an answer that fits are passed on as they came', async () => {
    for (const encoding_format of ['float', 'base64', undefined]) {
      const { text } = await here.post({ model: 'text-embedding-test', input: 'Hi', encoding_format });
      assert.match(text, /^\{\n {2}"object": "list"/, String(encoding_format));
    }
  });

  test('one text stays one text, and tokens stay tokens', async () => {
    for (const input of ['Hi', ['Hi'], [1, 2, 3], [[1, 2], [3]]]) {
      const { status } = await here.post({ model: 'text-embedding-test', input });
      assert.equal(status, 200);
      assert.deepEqual(bodiesOf(here).at(-1)?.['input'], input);
    }
  });

  test('fields that nobody here knows reach the upstream, ours do not', async () => {
    await here.post({
      model: 'text-embedding-test',
      input: 'Hi',
      truncate: 'END',
      strict: true,
      timeout: 20,
      provider: 'acme',
      ignored: [],
    });
    assert.deepEqual(bodiesOf(here).at(-1), { model: 'text-embedding-test', input: 'Hi', truncate: 'END' });
  });

  test('where a call goes is not the client’s business', async () => {
    const body = { model: 'text-embedding-test', input: 'Hi', base_url: 'http://elsewhere.example' };
    const { status, headers } = await here.post(body);
    assert.equal(status, 200);
    assert.equal(headers.get('x-sluice-dropped'), 'base_url');
    assert.equal('base_url' in (bodiesOf(here).at(-1) ?? {}), false);
    const refused = await here.post({ ...body, strict: true });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /unsupported_field/);
  });

  test('the cost goes into the statistics', async () => {
    const before = bodiesOf(here).length;
    await here.post({ model: 'text-embedding-test', input: ['a', 'b', 'c'], user: 'counted' });
    assert.equal(bodiesOf(here).length, before + 1);
    let record: string | undefined;
    await eventually('the usage is recorded', async () => {
      record = (await usageLines(here.gateway.origin)).find((line) => line.includes('"counted"'));
      return record !== undefined;
    });
    assert.match(record ?? '', /"prompt_tokens":6/);
  });

  for (const [name, body, status, code] of [
    ['no input', {}, 422, 'invalid_field'],
    ['a number for input', { input: 5 }, 422, 'invalid_field'],
    ['an empty list', { input: [] }, 422, 'invalid_field'],
    ['texts and tokens mixed', { input: ['a', [1]] }, 422, 'invalid_field'],
    ['a fraction of a token', { input: [1.5] }, 422, 'invalid_field'],
    ['an unknown encoding', { input: 'a', encoding_format: 'int8' }, 422, 'invalid_field'],
    ['no dimensions', { input: 'a', dimensions: 0 }, 422, 'invalid_field'],
    ['an unknown model', { input: 'a', model: 'nobodys' }, 404, 'model_not_found'],
    ['an unknown provider', { input: 'a', provider: 'nobody' }, 404, 'provider_not_found'],
    ['a model that chats', { input: 'a', model: 'claude-test' }, 501, 'not_supported'],
    ['a provider that chats', { input: 'a', provider: 'claude' }, 501, 'not_supported'],
  ] as const) {
    test(`${name}: ${status}`, async () => {
      const answer = await here.post(body);
      const { error } = JSON.parse(answer.text) as { error: { code: string; message: string } };
      assert.deepEqual({ status: answer.status, code: error.code }, { status, code }, error.message);
    });
  }
});

describe('where nobody is meant for it, or nothing is known of them', () => {
  test('the default provider gets what nobody offers, and nothing of what others offer for chats', async () => {
    const here = await world({}, 'defaultProvider: acme');
    try {
      const { status, text } = await here.post({ input: 'a', model: 'claude-test' });
      assert.deepEqual([status, /not_supported/.test(text), bodiesOf(here)], [501, true, []], text);
      assert.equal((await here.post({ input: 'a', model: 'nobodys' })).status, 200);
      assert.equal(bodiesOf(here).at(-1)?.['model'], 'nobodys');
    } finally {
      await here.close();
    }
  });

  test('a default provider that only chats gets neither', async () => {
    const here = await world({}, 'defaultProvider: claude');
    try {
      const { status, text } = await here.post({ input: 'a', model: 'nobodys' });
      assert.deepEqual([status, /model_not_found/.test(text)], [404, true], text);
    } finally {
      await here.close();
    }
  });

  test('a provider that does not list its models is not asked without a model', async () => {
    const here = await world({
      handle({ method }, response) {
        if (method !== 'GET') return false;
        response
          .writeHead(401, { 'content-type': 'application/json' })
          .end('{"error":{"message":"Incorrect API key"}}');
        return true;
      },
    });
    try {
      const { status, text } = await here.post({ input: 'a', provider: 'acme' });
      assert.deepEqual([status, /missing_credentials/.test(text), bodiesOf(here)], [401, true, []], text);
    } finally {
      await here.close();
    }
  });
});

describe('any way to write a vector', () => {
  /** Every kind of 32 bit float, by its bits. */
  const SPECIAL = [0, 0x8000_0000, 1, 0x8000_0001, 0x007f_ffff, 0x0080_0000, 0x3f80_0000, 0x7f7f_ffff, 0xff7f_ffff];
  let seed = 20_261_120;
  const random = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed;
  };
  const fromBits = (bits: number): number => {
    const buffer = Buffer.alloc(4);
    buffer.writeUInt32LE(bits >>> 0);
    return buffer.readFloatLE();
  };
  const bitsOf = (values: readonly number[]): number[] =>
    values.map((value) => {
      const buffer = Buffer.alloc(4);
      buffer.writeFloatLE(value);
      return buffer.readUInt32LE();
    });
  const vectors = Array.from({ length: 40 }, (_, index) =>
    Array.from({ length: 1 + (index % 9) * 7 }, () => {
      const bits = random() % 4 === 0 ? (SPECIAL[random() % SPECIAL.length] ?? 0) : random();
      const value = fromBits(bits);
      return Number.isFinite(value) ? value : 0.1;
    }).map(Math.fround),
  );

  for (const writes of ['float', 'base64'] as const) {
    for (const wants of ['float', 'base64'] as const) {
      test(`${writes} from the upstream, ${wants} for the client: every bit of 40 random vectors`, async () => {
        // Texts are the numbers of their vectors. JSON has its own way to lose a zero's sign, so the script writes it out.
        const here = await world({ writes, vector: (input) => vectors[Number(input)] ?? [] });
        try {
          const input = vectors.map((_, index) => String(index));
          const { status, text } = await here.post({ model: 'text-embedding-test', input, encoding_format: wants });
          assert.equal(status, 200, text);
          const { data } = JSON.parse(text) as { data: { embedding: number[] | string }[] };
          for (const [index, { embedding }] of data.entries()) {
            const got = typeof embedding === 'string' ? floats(embedding) : embedding;
            assert.equal(typeof embedding === 'string', wants === 'base64');
            // What the upstream's own JSON has lost cannot come back.
            const sent = (vectors[index] ?? []).map((value) => (writes === 'float' ? value + 0 : value));
            const known = writes === 'float' ? (JSON.parse(JSON.stringify(sent)) as number[]) : sent;
            assert.deepEqual(bitsOf(got), bitsOf(known));
          }
        } finally {
          await here.close();
        }
      });
    }
  }

  function floats(base64: string): number[] {
    const bytes = Buffer.from(base64, 'base64');
    return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
  }

  test('an upstream that refuses base64 is asked for numbers, from then on at once', async () => {
    const here = await world({ refusesBase64: true });
    try {
      for (const expected of [2, 3]) {
        const { data } = await here.client.embeddings.create({ model: 'text-embedding-test', input: 'four' });
        assert.deepEqual(data[0]?.embedding, [4, 0.5, -1]);
        assert.equal(bodiesOf(here).length, expected);
      }
    } finally {
      await here.close();
    }
  });

  test('a number that no 32 bit float can hold is no vector', async () => {
    const here = await world({ writes: 'float', vector: () => [1e39] });
    try {
      const { status, text } = await here.post({ model: 'text-embedding-test', input: 'a', encoding_format: 'base64' });
      assert.equal(status, 502, text);
      assert.match(text, /upstream_invalid/);
    } finally {
      await here.close();
    }
  });
});

describe('more inputs than one request upstream takes', () => {
  test('are sent in several, come back in their order, and their costs are added up', async () => {
    const here = await world({ vector: (input) => [Number(input)] });
    try {
      const input = Array.from({ length: 2_500 }, (_, index) => String(index));
      for (const [encoding, requests] of [
        ['float', 5],
        ['base64', 3],
      ] as const) {
        const before = bodiesOf(here).length;
        const { text } = await here.post({ model: 'text-embedding-test', input, encoding_format: encoding });
        const { data, usage, model } = JSON.parse(text) as {
          data: { index: number; embedding: number[] | string }[];
          usage: object;
          model: string;
        };
        assert.equal(bodiesOf(here).length - before, requests);
        assert.equal(model, 'text-embedding-test-2026');
        assert.deepEqual(usage, { prompt_tokens: 5_000, total_tokens: 5_000 });
        assert.equal(data.length, 2_500);
        for (const [at, { index, embedding }] of data.entries()) {
          const value = typeof embedding === 'string' ? Buffer.from(embedding, 'base64').readFloatLE() : embedding[0];
          assert.deepEqual([index, value], [at, at]);
        }
      }
    } finally {
      await here.close();
    }
  });

  test('cost what they are estimated to where not all of them are counted', async () => {
    const here = await world({
      handle(request, response) {
        if (request.path !== '/v1/embeddings') return false;
        const { input } = request.body as { input: string[] };
        const data = input.map((_, index) => ({ object: 'embedding', index, embedding: [0.5] }));
        const usage = input[0] === '0' ? { usage: { prompt_tokens: 7, total_tokens: 7 } } : {};
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ object: 'list', data, model: 'm', ...usage }));
        return true;
      },
    });
    try {
      const input = Array.from({ length: 600 }, (_, index) => String(index));
      const { text } = await here.post({ model: 'text-embedding-test', input });
      assert.deepEqual(JSON.parse(text).usage, { prompt_tokens: 600, total_tokens: 600, estimated: true });
    } finally {
      await here.close();
    }
  });

  test('one of them that fails is the answer, and the others are called off', async () => {
    let calls = 0;
    const here = await world({
      handle(request, response) {
        if (request.path !== '/v1/embeddings') return false;
        calls += 1;
        const { input } = request.body as { input: string[] };
        if (input[0] !== '512') return calls > 1;
        const error = { message: 'the input is too long', type: 'invalid_request_error' };
        response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
        return true;
      },
    });
    try {
      const input = Array.from({ length: 5_000 }, (_, index) => String(index));
      const { status, text } = await here.post({ model: 'text-embedding-test', input });
      assert.equal(status, 400);
      assert.match(text, /the input is too long/);
      // One may just be arriving there.
      await eventually('nothing stays open upstream', () => here.upstream.open === 0);
      assert.ok(calls <= 5, `${calls} calls`);
    } finally {
      await here.close();
    }
  });
});

describe('what upstreams do wrong', () => {
  const cases: readonly (readonly [string, number, string, number, string])[] = [
    ['no such path', 404, '{"detail":"Not Found"}', 501, 'not_supported'],
    ['a model it does not know', 404, '{"error":{"message":"The model `x` does not exist"}}', 404, 'model_not_found'],
    ['llama.cpp without embeddings', 501, '{"error":{"message":"start it with --embeddings"}}', 501, 'not_supported'],
    ['a refused key', 401, '{"error":{"message":"Incorrect API key"}}', 401, 'missing_credentials'],
    ['an internal error', 500, '{"error":{"message":"oops"}}', 500, 'provider_failed'],
    ['no JSON', 200, '<html>', 502, 'upstream_invalid'],
    ['an error with status 200', 200, '{"error":{"message":"nope","code":429}}', 429, 'rate_limited'],
    ['too few vectors', 200, '{"data":[]}', 502, 'upstream_invalid'],
    ['vectors of words', 200, '{"data":[{"index":0,"embedding":["a"]}]}', 502, 'upstream_invalid'],
    ['an index far away', 200, '{"data":[{"index":9,"embedding":[1]}]}', 502, 'upstream_invalid'],
  ];
  for (const [name, sent, body, status, code] of cases) {
    test(`${name}: ${status}`, async () => {
      const here = await world(
        {
          handle(request, response) {
            if (request.path !== '/v1/embeddings') return false;
            response.writeHead(sent, { 'content-type': 'application/json' }).end(body);
            return true;
          },
        },
        'limits: { attempts: 1 }',
      );
      try {
        const answer = await here.post({ model: 'text-embedding-test', input: 'a', encoding_format: 'float' });
        const { error } = JSON.parse(answer.text) as { error: { code: string; message: string } };
        assert.deepEqual({ status: answer.status, code: error.code }, { status, code }, error.message);
      } finally {
        await here.close();
      }
    });
  }

  test('one that is silent makes place for the next, and is called off', async () => {
    const silent = await startEmbeddingUpstream({ handle: ({ path }) => path === '/v1/embeddings' });
    const here = await world(
      {},
      `  silent: { kind: openai, baseUrl: '${silent.baseUrl}', apiKey: k }\nlimits: { firstByteMs: 2000 }`,
    );
    try {
      const body = { provider: 'silent acme', model: 'text-embedding-test', input: 'a' };
      const { status, headers, text } = await here.post(body);
      assert.equal(status, 200, text);
      assert.equal(headers.get('x-sluice-provider'), 'acme');
      assert.equal(headers.get('x-sluice-attempts'), '2');
      const [asked] = silent.requests.filter(({ path }) => path === '/v1/embeddings');
      assert.equal(await asked?.closed, 'aborted');
    } finally {
      await here.close();
      await silent.close();
    }
  });

  test('a client that leaves ends the request upstream', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const here = await world({
      handle({ path }) {
        if (path === '/v1/embeddings') resolve();
        return path === '/v1/embeddings';
      },
    });
    try {
      const controller = new AbortController();
      const answer = here.client.embeddings.create(
        { model: 'text-embedding-test', input: 'a' },
        { signal: controller.signal },
      );
      await asked;
      controller.abort();
      await assert.rejects(answer, OpenAI.APIUserAbortError);
      const [request] = here.upstream.requests.filter(({ path }) => path === '/v1/embeddings');
      assert.equal(await request?.closed, 'aborted');
    } finally {
      await here.close();
    }
  });
});
