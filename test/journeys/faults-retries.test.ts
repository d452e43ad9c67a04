import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type FaultName, faults } from '../support/openai-faults.ts';
import { type OpenAiOptions, type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { unusedPort } from '../support/plain-server.ts';
import type { Handler } from '../support/seen-request.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import { MAIN_WAYS } from '../support/ways.ts';
import { ask, askChat, type Received, readError } from '../support/wire-answers.ts';

// When Sluice asks again, when it asks another, and when it must not.

/** A gateway for one test, with a provider for each upstream. */
async function openGateway(
  context: TestContext,
  upstreams: Readonly<Record<string, OpenAiUpstream>>,
  more = '',
): Promise<Gateway> {
  const providers = Object.entries(upstreams).map(
    ([name, { baseUrl }]) => `  ${name}: { kind: openai, baseUrl: '${baseUrl}', apiKey: key-of-${name} }`,
  );
  const gateway = await startGateway(`providers:\n${providers.join('\n')}\n${more}`);
  context.after(async () => {
    await gateway.close();
    for (const upstream of Object.values(upstreams)) await upstream.close();
  });
  return gateway;
}

const failing = (count: number, first: VendorScript, then: VendorScript): VendorScript => {
  let asked = 0;
  return (request) => {
    asked += 1;
    return asked <= count ? first(request) : then(request);
  };
};
const good: VendorScript = () => ({ text: ['good', ' answer'] });

describe('attempts', { concurrency: 6 }, () => {
  for (const [title, way] of Object.entries(MAIN_WAYS)) {
    test(`${title}: a failure that passes is not seen`, { timeout: 30_000 }, async (context) => {
      const script = failing(2, () => ({ status: 503, errorMessage: 'busy' }), good);
      const upstream = await startOpenAiUpstream(script);
      const gateway = await openGateway(context, { mock: upstream });
      const received = await way.ask(gateway.origin, { provider: 'mock', model: 'm' });
      assert.equal(way.read(received).text, 'good answer');
      assert.equal(upstream.chats.length, 3);
      assert.equal(received.headers['x-sluice-attempts'], '3');
    });

    test(`${title}: connections that were dropped while nobody used them cost one attempt, however many there are`, {
      timeout: 30_000,
    }, async (context) => {
      let isDropped = false;
      const together = Promise.withResolvers<void>();
      const upstream = await startOpenAiUpstream(() => ({ text: ['good', ' answer'] }), {
        handle: async ({ path, before }, response) => {
          if (!isDropped) {
            // Answered when all have come: each has a connection of its own then, however slow the machine is.
            if (upstream.chats.length === 6) together.resolve();
            if (path === '/v1/chat/completions') await together.promise;
            return false;
          }
          if (before === 0) return false;
          response.socket?.resetAndDestroy();
          return true;
        },
      });
      const gateway = await openGateway(context, { mock: upstream });
      const asked = () => way.ask(gateway.origin, { provider: 'mock', model: 'm' });
      await Promise.all(Array.from({ length: 6 }, asked));
      assert.ok(upstream.connections >= 6);
      isDropped = true;
      const received = await asked();
      assert.equal(way.read(received).text, 'good answer');
      assert.equal(received.headers['x-sluice-attempts'], '2');
    });

    test(`${title}: after three attempts the last failure is told, once`, { timeout: 30_000 }, async (context) => {
      let count = 0;
      const upstream = await startOpenAiUpstream(() => {
        count += 1;
        return { status: 500, errorMessage: `failure ${count}` };
      });
      const gateway = await openGateway(context, { mock: upstream });
      const received = await way.ask(gateway.origin, { provider: 'mock', model: 'm' });
      assert.match(String(readError(received)['message']), /failure 3/);
      assert.equal(upstream.chats.length, 3);
    });

    test(`${title}: Retry-After is kept to, and passed on where it is too long`, {
      timeout: 30_000,
    }, async (context) => {
      const times: number[] = [];
      const limited: VendorScript = () => ({ status: 429, errorMessage: 'slow down', headers: { 'retry-after': '1' } });
      const once = failing(1, limited, good);
      const upstream = await startOpenAiUpstream((request) => {
        times.push(performance.now());
        return once(request);
      });
      const gateway = await openGateway(context, { mock: upstream });
      assert.equal(way.read(await way.ask(gateway.origin, { provider: 'mock', model: 'm' })).text, 'good answer');
      const [first = 0, second = 0] = times;
      assert.ok(second - first >= 999, `${second - first} ms between the attempts`);
      assert.equal(times.length, 2);

      const received = await way.ask(gateway.origin, {
        provider: 'mock',
        model: 'fault-rate-limited' satisfies FaultName,
      });
      assert.equal(received.status, 429);
      assert.equal(received.headers['retry-after'], '30');
      assert.equal(readError(received)['code'], 'rate_limited');
    });

    test(`${title}: headers by which an upstream paces its clients come with its failures, and no others`, async (context) => {
      const headers = { 'x-ratelimit-remaining-requests': '0', 'x-internal': 'secret', 'retry-after': '60' };
      const limited = await startOpenAiUpstream(() => ({ status: 429, errorMessage: 'slow down', headers }));
      const gateway = await openGateway(context, { mock: limited });
      const received = await way.ask(gateway.origin, { provider: 'mock', model: 'm' });
      assert.equal(received.status, 429);
      assert.equal(received.headers['x-ratelimit-remaining-requests'], '0');
      assert.equal(received.headers['x-internal'], undefined);
    });

    test(`${title}: down, and up again`, { timeout: 60_000 }, async (context) => {
      const port = await unusedPort();
      const gateway = await startGateway(
        `providers: { mock: { kind: openai, baseUrl: 'http://127.0.0.1:${port}/v1' } }`,
      );
      context.after(() => gateway.close());
      const asking = async (): Promise<Received> => way.ask(gateway.origin, { provider: 'mock', model: 'm' });
      const failures = await Promise.all(Array.from({ length: 50 }, asking));
      for (const received of failures) {
        assert.equal(received.status, 502);
        assert.equal(readError(received)['code'], 'upstream_unreachable');
      }
      const upstream = await startOpenAiUpstream(good, { port });
      context.after(() => upstream.close());
      assert.equal(way.read(await asking()).text, 'good answer', 'at once, after 50 failures in a row');
    });
  }

  test('connections that the upstream closes while they are idle: 300 requests', {
    timeout: 60_000,
  }, async (context) => {
    // Closes each connection a moment after the answer, now before, now after the next request has been sent.
    const upstream = await startOpenAiUpstream(undefined, {
      async handle(request, response) {
        if (request.method !== 'POST') return false;
        const { socket } = response;
        response.writeHead(200, { 'content-type': 'application/json' });
        const choice = { index: 0, message: { role: 'assistant', content: 'good' }, finish_reason: 'stop' };
        response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [choice] }));
        await request.closed;
        setTimeout(() => socket?.resetAndDestroy(), Math.random() * 4);
        return true;
      },
    });
    const gateway = await openGateway(context, { mock: upstream });
    let successes = 0;
    for (let round = 0; round < 300; round += 1) {
      const received = await askChat(gateway.origin, { provider: 'mock', model: 'm' });
      if (received.status === 200) successes += 1;
      else readError(received);
      await sleep(Math.random() * 3);
    }
    assert.ok(successes >= 297, `${successes} of 300`);
    assert.ok(upstream.connections > 20, 'connections were indeed closed');
  });

  test('what an answer costs is not spent twice: a stream that was begun is asked for once', {
    timeout: 30_000,
  }, async (context) => {
    for (const answer of [{ cutAfter: 1 }, { endAfter: 1 }, { errorAfter: 1 }, { errorAfter: 1, burst: 10 }]) {
      const upstream = await startOpenAiUpstream(() => ({ text: ['begun', ' and'], ...answer }));
      const gateway = await openGateway(context, { mock: upstream });
      for (const [title, way] of Object.entries(MAIN_WAYS)) {
        if (way.isWhole) continue;
        const before = upstream.chats.length;
        const said = way.read(await way.ask(gateway.origin, { provider: 'mock', model: 'm' }));
        assert.equal(said.text, 'begun', title);
        assert.ok(said.error, title);
        assert.equal(upstream.chats.length, before + 1, title);
      }
    }
  });
});

describe('the next provider', { concurrency: 6 }, () => {
  // Long enough for the second one on a busy machine.
  const LIMITS = 'limits: { firstByteMs: 3000, idleMs: 3000, retryWaitMs: 1000 }';
  const ALIAS = 'aliases: { best: [first/model-a, second/model-b] }';

  /** Ways in which the first of two may fail before anything can be seen. */
  const troubles: Readonly<Record<string, VendorScript | FaultName>> = {
    'is slow': () => ({ silent: true }),
    'has reached its rate limit': () => ({ status: 429, headers: { 'retry-after': '60' } }),
    'has no credit': () => ({ status: 402, errorMessage: 'insufficient credit' }),
    'refuses the key': () => ({ status: 401 }),
    'does not have the model': () => ({ status: 404 }),
    fails: () => ({ status: 500 }),
    resets: 'fault-reset-early',
    'sends a page': 'fault-html-200',
    'sends nothing': 'fault-empty',
    redirects: 'fault-redirect',
    'reports an error in the stream': 'fault-error-first',
    'begins and says nothing': () => ({ text: [], cutAfter: 0 }),
  };

  for (const [trouble, first] of Object.entries(troubles)) {
    test(`answers when the first ${trouble}`, { timeout: 60_000 }, async (context) => {
      const options: OpenAiOptions =
        typeof first === 'string' ? { handle: (request, response) => faulty(first, request, response) } : {};
      const upstreams = {
        first: await startOpenAiUpstream(typeof first === 'string' ? undefined : first, options),
        second: await startOpenAiUpstream(good),
      };
      const gateway = await openGateway(context, upstreams, `${ALIAS}\n${LIMITS}`);
      for (const way of Object.values(MAIN_WAYS)) {
        const received = await way.ask(gateway.origin, { model: 'best' });
        const said = way.read(received);
        assert.equal(said.text, 'good answer');
        assert.equal(received.headers['x-sluice-provider'], 'second');
        assert.equal(received.headers['x-sluice-model'], 'model-b');
      }
      const plain = await ask(gateway.origin, '/backend-api/v2/create?model=best&prompt=Hi');
      assert.equal(plain.body, 'good answer');
      assert.ok(upstreams.first.chats.every(({ model }) => model === 'model-a'));
      assert.ok(upstreams.second.chats.every(({ model }) => model === 'model-b'));
      assert.ok(
        upstreams.second.chats.every(({ headers }) => headers.authorization === 'Bearer key-of-second'),
        'with its own key',
      );
      await eventually('the first is left in peace', () => upstreams.first.open === 0);
    });
  }

  async function faulty(name: FaultName, ...[request, response]: Parameters<Handler>): Promise<boolean> {
    if (request.method !== 'POST') return false;
    const { answer }: { readonly answer: Handler } = faults[name];
    await answer(request, response);
    return true;
  }

  test('is never glued on to what the first has begun', { timeout: 30_000 }, async (context) => {
    for (const way of Object.values(MAIN_WAYS)) {
      const upstreams = {
        first: await startOpenAiUpstream(() => ({ text: ['begun', ' and'], cutAfter: 1 })),
        second: await startOpenAiUpstream(good),
      };
      const gateway = await openGateway(context, upstreams, ALIAS);
      const received = await way.ask(gateway.origin, { model: 'best' });
      const said = way.read(received);
      if (way.isWhole) {
        // Nothing was seen of it yet, so another may answer.
        assert.equal(said.text, 'good answer');
        assert.equal(upstreams.second.chats.length, 1);
      } else {
        assert.equal(said.text, 'begun');
        assert.ok(said.error);
        assert.equal(received.headers['x-sluice-provider'], 'first');
        assert.equal(upstreams.second.chats.length, 0);
      }
    }
  });

  test('is not asked what was wrong with the request', { timeout: 30_000 }, async (context) => {
    const upstreams = {
      first: await startOpenAiUpstream(() => ({ status: 400, errorMessage: 'context too long' })),
      second: await startOpenAiUpstream(good),
    };
    const gateway = await openGateway(context, upstreams, ALIAS);
    for (const way of Object.values(MAIN_WAYS)) {
      const received = await way.ask(gateway.origin, { model: 'best' });
      assert.equal(received.status, 400);
      assert.match(String(readError(received)['message']), /context too long/);
    }
    assert.equal(upstreams.second.chats.length, 0);
  });

  test('of a model that two know is found without an alias, and the one that failed comes last', {
    timeout: 30_000,
  }, async (context) => {
    // Left alone for longer than a busy machine takes for all of this: without such a wish it would be for a second.
    const script = failing(3, () => ({ status: 500, headers: { 'retry-after': '60' } }), good);
    const upstreams = {
      first: await startOpenAiUpstream(script, { models: ['shared'] }),
      second: await startOpenAiUpstream(good, { models: ['shared'] }),
    };
    const gateway = await openGateway(context, upstreams);
    for (const way of Object.values(MAIN_WAYS)) {
      assert.equal(way.read(await way.ask(gateway.origin, { model: 'shared' })).text, 'good answer');
    }
    assert.equal(upstreams.first.chats.length, 1, 'asked once, and then left alone for a while');
    assert.equal(upstreams.second.chats.length, 3);
  });

  test('answers for a provider that is gone', { timeout: 30_000 }, async (context) => {
    const upstreams = { second: await startOpenAiUpstream(good) };
    const gateway = await openGateway(
      context,
      upstreams,
      `  first: { kind: openai, baseUrl: 'http://127.0.0.1:${await unusedPort()}/v1' }\n${ALIAS}`,
    );
    for (const way of Object.values(MAIN_WAYS)) {
      assert.equal(way.read(await way.ask(gateway.origin, { model: 'best' })).text, 'good answer');
    }
  });
});

describe('bad neighbours', () => {
  let upstream: OpenAiUpstream;
  let gateway: Gateway;

  before(async () => {
    upstream = await startOpenAiUpstream(({ prompt }) => ({ text: [...`answer to ${prompt} `.repeat(5)], delayMs: 1 }));
    gateway = await startGateway(`providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }`);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  test('100 that fail beside 100 that do not', { timeout: 60_000 }, async () => {
    const bad: FaultName[] = [
      'fault-reset',
      'fault-reset-early',
      'fault-error-event',
      'fault-not-http',
      'fault-503',
      'fault-close',
      'fault-html-200',
      'fault-not-gzip',
    ];
    const titles = Object.keys(MAIN_WAYS);
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const way = MAIN_WAYS[titles[index % titles.length] ?? ''] ?? assert.fail();
        const messages = [{ role: 'user', content: `question ${index}` }];
        const [received, failed] = await Promise.all([
          way.ask(gateway.origin, { provider: 'mock', model: 'm', messages }),
          way.ask(gateway.origin, { provider: 'mock', model: bad[index % bad.length] ?? '' }),
        ]);
        assert.equal(way.read(received).text, `answer to question ${index} `.repeat(5));
        if (failed.status === 200) assert.ok(way.read(failed).error);
        else readError(failed);
      }),
    );
    await eventually('nothing stays open', () => upstream.open === 0);
  });
});
