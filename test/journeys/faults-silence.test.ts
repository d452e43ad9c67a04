import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAnthropicUpstream } from '../support/anthropic-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { VendorAnswer } from '../support/vendor-script.ts';
import type { VendorUpstream } from '../support/vendor-server.ts';
import { MAIN_WAYS } from '../support/ways.ts';
import {
  ask,
  askChat,
  askConversation,
  type Json,
  type Received,
  readChatStream,
  readCompletion,
  readConversation,
  readError,
} from '../support/wire-answers.ts';
import { startGatewayBefore } from './gateway-before.ts';

// Upstreams that fall silent or are endlessly slow: every wait has an end, and the time is measured from the last sign of
// life. Also the signs of life that Sluice gives itself.

const CLAUDE = 'claude-haiku-4-5';

function* slowly(): Generator<string> {
  for (let count = 0; ; count += 1) yield `${count} `;
}

/** By the last word of the prompt. */
const behaviours: Readonly<Record<string, (isStream: boolean) => VendorAnswer>> = {
  'never-answers': () => ({ silent: true }),
  'falls-silent': () => ({ text: ['begun', ' and'], stallAfter: 1 }),
  // Longer than the idle limit in all, yet never silent for as long as that.
  'is-slow': () => ({ text: [...'slow but steady'], delayMs: 400 }),
  'never-ends': (isStream) => (isStream ? { text: slowly(), delayMs: 50 } : { text: ['a', 'b'], stallAfter: 1 }),
};

/** Of which the one for the whole answer is kept by nothing that goes on for ever. */
const LIMITS = '{ firstByteMs: 2000, idleMs: 2000, totalMs: 9000, heartbeatMs: 1000, attempts: 1 }';
/** An idle limit that slow pieces keep, also on a busy machine. */
const PATIENT_LIMITS = '{ firstByteMs: 20000, idleMs: 5000, attempts: 1 }';
/** Which of the limits it was: the one for the whole answer would end a silence too, only much later. */
const NOT_BEGUN = /has not begun to answer within 2000 ms/;
const NOTHING_MORE = /has sent nothing for 2000 ms/;

const asked = (provider: string, prompt: string, more: Json = {}): Json => ({
  provider,
  model: provider === 'claude' ? CLAUDE : 'test-model',
  messages: [{ role: 'user', content: prompt }],
  ...more,
});

describe('silence', { concurrency: 8 }, () => {
  let openAi: OpenAiUpstream;
  let anthropic: VendorUpstream;
  let gateway: Gateway;
  let patient: Gateway;

  before(async () => {
    openAi = await startOpenAiUpstream(({ prompt, stream }) => behaviours[prompt]?.(stream) ?? {});
    anthropic = await startAnthropicUpstream(
      ({ prompt, stream }) => behaviours[prompt]?.(stream) ?? { text: ['Hello'] },
    );
    const providers = `providers:
  mock: { kind: openai, baseUrl: '${openAi.baseUrl}', apiKey: key-of-mock }
  claude: { kind: anthropic, baseUrl: '${anthropic.baseUrl}', apiKey: key-of-claude }`;
    gateway = await startGateway(`${providers}\nlimits: ${LIMITS}`);
    patient = await startGateway(`${providers}\nlimits: ${PATIENT_LIMITS}`);
    // Loading the library is no silence of its upstream.
    for (const way of Object.values(MAIN_WAYS)) {
      let isLoaded = false;
      while (!isLoaded) isLoaded = (await way.ask(gateway.origin, asked('claude', 'warm'))).status === 200;
    }
  });
  after(async () => {
    // The end of the gateway would close them too.
    const open = new Set([...openAi.chats, ...anthropic.requests]);
    for (const each of open) void each.closed.then(() => open.delete(each));
    try {
      await eventually('nothing stays open upstream', () => open.size === 0 && openAi.open === 0);
    } finally {
      await gateway.close();
      await patient.close();
      await openAi.close();
      await anthropic.close();
    }
  });

  for (const provider of ['mock', 'claude']) {
    for (const [title, way] of Object.entries(MAIN_WAYS)) {
      const name = `${provider}, ${title}`;

      test(`${name}: no answer at all is a 504`, { timeout: 30_000 }, async () => {
        const received = await way.ask(gateway.origin, asked(provider, 'never-answers'));
        const error = readError(received);
        assert.equal(received.status, 504);
        assert.equal(error['code'], 'upstream_timeout');
        assert.match(String(error['message']), NOT_BEGUN);
      });

      test(`${name}: who it was is told, also where the time for the whole is over`, { timeout: 30_000 }, async () => {
        const received = await way.ask(gateway.origin, asked(provider, 'never-answers', { timeout: 1 }));
        const error = readError(received);
        assert.equal(received.status, 504);
        assert.equal(error['message'], 'TimeoutError: The answer took longer than 1000 ms.');
        const told = JSON.parse(received.body) as Json;
        assert.equal(told['provider'], provider);
        assert.equal(told['model'], provider === 'claude' ? CLAUDE : 'test-model');
      });

      test(`${name}: silence in the middle keeps what was said`, { timeout: 30_000 }, async () => {
        const received = await way.ask(gateway.origin, asked(provider, 'falls-silent'));
        if (way.isWhole) {
          const error = readError(received);
          assert.equal(error['code'], 'upstream_timeout');
          assert.match(String(error['message']), NOTHING_MORE);
          assert.equal(received.status, 504);
          return;
        }
        const said = way.read(received);
        assert.equal(said.text, 'begun');
        assert.equal(said.error?.['code'], 'upstream_timeout');
        assert.match(String(said.error?.['message']), NOTHING_MORE);
      });

      test(`${name}: a client may put up with less silence, not with more`, { timeout: 30_000 }, async () => {
        for (const [seconds, limit] of [
          [1, 1000],
          [50, 2000],
        ]) {
          const received = await way.ask(gateway.origin, asked(provider, 'falls-silent', { stream_timeout: seconds }));
          const error = way.isWhole ? readError(received) : way.read(received).error;
          assert.match(String(error?.['message']), new RegExp(`has sent nothing for ${limit} ms`));
        }
      });

      test(`${name}: slowness is no silence`, { timeout: 30_000 }, async () => {
        // Without streaming nothing comes before everything does, so there the limit holds for the whole.
        if (way.isWhole && provider === 'mock') return;
        const said = way.read(await way.ask(patient.origin, asked(provider, 'is-slow')));
        assert.equal(said.text, 'slow but steady');
        assert.equal(said.finish, 'stop');
      });

      test(`${name}: a whole answer has an end, and a client may want it sooner`, { timeout: 30_000 }, async () => {
        // Of a stream something is to be heard before, also on a busy machine.
        const timeout = way.isWhole ? 1.5 : 4;
        const received = await way.ask(gateway.origin, asked(provider, 'never-ends', { timeout }));
        if (way.isWhole) {
          assert.equal(received.status, 504);
          assert.equal(readError(received)['code'], 'upstream_timeout');
          return;
        }
        const said = way.read(received);
        assert.match(said.text, /^0 1 /);
        assert.ok(said.error);
      });
    }
  }

  for (const way of ['dialect B, streamed', 'dialect A'] as const) {
    test(`${way}: an endless answer ends when its time is over`, { timeout: 30_000 }, async () => {
      const said = MAIN_WAYS[way]?.read(
        (await MAIN_WAYS[way]?.ask(gateway.origin, asked('mock', 'never-ends'))) ?? assert.fail(),
      );
      assert.match(said?.text ?? '', /^0 1 2 3 4 5 /);
      assert.ok(said?.error, 'the failure is visible');
    });
  }

  test('plain text has no place for an error: it is cut', { timeout: 30_000 }, async () => {
    const received = await ask(gateway.origin, '/backend-api/v2/create?provider=mock&model=m&prompt=falls-silent');
    assert.equal(received.status, 200);
    assert.equal(received.body, 'begun');
    assert.ok(!received.complete);
    const none = await ask(gateway.origin, '/backend-api/v2/create?provider=mock&model=m&prompt=never-answers');
    assert.equal(none.status, 504);
    readError(none);
  });
});

describe('silence in the middle of JSON where a stream was asked for', { concurrency: 6 }, () => {
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;

  before(async () => {
    const upstream = await startOpenAiUpstream(undefined, {
      async handle(request, response) {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'application/json' });
        if (request.prompt === 'falls-silent') {
          response.write('{"choices":');
          await request.closed;
          return true;
        }
        // As DeepSeek's servers do while they are busy.
        for (let lines = 0; lines < 8; lines += 1) {
          response.write('\n');
          await sleep(400);
        }
        response.end('{"choices":[{"index":0,"message":{"content":"late"},"finish_reason":"stop"}]}');
        return true;
      },
    });
    world = await startGatewayBefore(
      [upstream],
      `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }\nlimits: ${LIMITS}`,
    );
  });
  after(() => world.close());

  for (const [title, way] of Object.entries(MAIN_WAYS)) {
    // What asks for media is written anew, and no relay.
    const more = { download_media: true };

    test(`${title}: ends it, as the silence of a stream does`, { timeout: 30_000 }, async () => {
      const received = await way.ask(world.gateway.origin, asked('mock', 'falls-silent', more));
      assert.equal(received.status, 504);
      assert.match(String(readError(received)['message']), NOTHING_MORE);
    });

    test(`${title}: is none while empty lines come`, { timeout: 30_000 }, async () => {
      assert.equal(way.read(await way.ask(world.gateway.origin, asked('mock', 'waits', more))).text, 'late');
    });
  }
});

describe('signs of life', { concurrency: 4 }, () => {
  let world: Awaited<ReturnType<typeof startGatewayBefore>>;

  before(async () => {
    const upstream = await startOpenAiUpstream(undefined, {
      async handle(request, response) {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const event = (content: string, finish: string | null): string =>
          `data: {"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":${finish}}]}\n\n`;
        response.write(event('begun', null));
        // In the middle of an event, too: half of it has arrived.
        const [half, rest] = [event(' and done', null).slice(0, 50), event(' and done', null).slice(50)];
        response.write(half);
        await sleep(3_500);
        response.end(`${rest}${event('', '"stop"')}data: [DONE]\n\n`);
        return true;
      },
    });
    world = await startGatewayBefore(
      [upstream],
      `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }\nlimits: { heartbeatMs: 1000 }`,
    );
  });
  after(() => world.close());

  const pings = (received: Received): number => received.body.split(': ping').length - 1;
  const body = { provider: 'mock', model: 'test-model' };

  test('comments fill a silence, in both dialects, and never inside of an event', { timeout: 30_000 }, async () => {
    const [chat, conversation] = await Promise.all([
      askChat(world.gateway.origin, { ...body, stream: true }),
      askConversation(world.gateway.origin, body),
    ]);
    for (const [received, said] of [
      [chat, readChatStream(chat)],
      [conversation, readConversation(conversation)],
    ] as const) {
      assert.equal(said.text, 'begun and done');
      assert.ok(pings(received) >= 2 && pings(received) <= 4, `${pings(received)} pings in 3.5 s`);
      assert.match(received.body, /\n\n: ping\n\n/);
    }
  });

  test('lines of JSON and plain text have none', { timeout: 30_000 }, async () => {
    const [lines, plain, whole] = await Promise.all([
      askConversation(world.gateway.origin, body, { headers: { accept: 'application/x-ndjson' } }),
      ask(world.gateway.origin, '/backend-api/v2/create?provider=mock&model=m&prompt=Hi'),
      askChat(world.gateway.origin, body),
    ]);
    assert.equal(readConversation(lines, 'lines').text, 'begun and done');
    assert.equal(plain.body, 'begun and done');
    assert.equal(readCompletion(whole).text, 'begun and done');
    for (const received of [lines, plain, whole]) assert.equal(pings(received), 0);
  });

  test('JSON lines are for those who ask for nothing else', { timeout: 30_000 }, async () => {
    const accepts = ['text/event-stream, application/x-ndjson', '*/*', 'application/json'];
    const answers = accepts.map((accept) => askConversation(world.gateway.origin, body, { headers: { accept } }));
    for (const received of await Promise.all(answers)) readConversation(received);
  });
});
