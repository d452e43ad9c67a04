import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { eventually } from '../support/eventually.ts';
import type { VendorAnswer } from '../support/vendor-script.ts';
import { type ChatBody, FORMATS, openWorld, type Seat, type World } from './sdk-vendors.ts';

const HI = [{ role: 'user' as const, content: 'Hi' }];

/** A status of the upstream, and the class and status in which the client learns of it. */
const STATUSES = [
  { status: 400, error: OpenAI.BadRequestError, seen: 400 },
  { status: 401, error: OpenAI.AuthenticationError, seen: 401 },
  { status: 403, error: OpenAI.PermissionDeniedError, seen: 403 },
  { status: 404, error: OpenAI.NotFoundError, seen: 404 },
  { status: 429, error: OpenAI.RateLimitError, seen: 429 },
  { status: 500, error: OpenAI.InternalServerError, seen: 500 },
  { status: 503, error: OpenAI.InternalServerError, seen: 503 },
] as const;

test('media that a provider does not take are 501, and go to the next one that does', async (context) => {
  const world = await openWorld();
  context.after(() => world.close());
  const [openai, anthropic, google] = [world.seat('openai'), world.seat('anthropic'), world.seat('google')];
  google.answers({ text: ['A bell.'] });
  const sound = (data: string) => [
    {
      role: 'user' as const,
      content: [{ type: 'input_audio' as const, input_audio: { data, format: 'wav' as const } }],
    },
  ];
  const ask = (fields: object) =>
    fetch(`${world.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
  // A search is nothing that a relay could pass on.
  for (const fields of [
    { model: anthropic.model, messages: sound('UklGRg==') },
    { model: openai.model, messages: sound('data:audio/wav,RIFF'), web_search: 'bells' },
  ]) {
    const refused = await ask(fields);
    const { error } = (await refused.json()) as { error: { code: string; param: string } };
    assert.equal(refused.status, 501);
    assert.equal(error.code, 'not_supported');
    assert.equal(error.param, 'messages');
  }
  const answer = await ask({ model: anthropic.model, models: [google.model], messages: sound('UklGRg==') });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('x-sluice-provider'), google.model.split('/')[0]);
});

test('a picture that is no base64 is refused where it has to be read', async (context) => {
  const world = await openWorld();
  context.after(() => world.close());
  const part = { type: 'image_url', image_url: { url: 'data:image/png;base64,@@@' } };
  const messages = [...HI, { role: 'user', content: [{ type: 'text', text: 'Look' }, part] }];
  for (const [path, status] of [
    ['/v1/chat/completions', 422],
    ['/backend-api/v2/conversation', 400],
  ] as const) {
    const answer = await fetch(world.origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: world.seat('anthropic').model, messages }),
    });
    assert.equal(answer.status, status);
    const { error } = (await answer.json()) as { error: { param: string } };
    assert.equal(error.param, 'messages[1].content[1]');
  }
  assert.equal(world.seat('anthropic').arrived.length, 0);
});

describe('failures through the official OpenAI client', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    // Attempts are the business of other tests.
    world = await openWorld('limits: { attempts: 1 }');
  });
  after(() => world.close());

  for (const format of FORMATS) {
    describe(`before an upstream of ${format}'s format`, () => {
      let seat: Seat;
      before(() => {
        seat = world.seat(format);
      });
      const whole = (fields: Partial<ChatBody> = {}) =>
        world.client.chat.completions.create({ model: seat.model, messages: HI, ...fields, stream: false });
      const stream = (options: { signal?: AbortSignal } = {}) =>
        world.client.chat.completions.create({ model: seat.model, messages: HI, stream: true }, options);

      for (const { status, error, seen } of STATUSES) {
        test(`turns ${status} into ${error.name}`, async () => {
          seat.answers({ status, errorMessage: 'the upstream says why' });
          for (const ask of [whole, stream]) {
            const failure = await failureOf(ask());
            assert.ok(failure instanceof error, `${failure.constructor.name}: ${failure.message}`);
            assert.equal(failure.status, seen);
            assert.match(failure.message, /the upstream says why/);
            assert.equal(typeof failure.code, 'string');
            assert.equal(typeof failure.type, 'string');
            // The body says who failed.
            const [provider, model] = seat.model.split('/');
            assert.match(failure.headers?.get('content-type') ?? '', /^application\/json/);
            assert.match(failure.headers?.get('x-request-id') ?? '', /./);
            const answer = await fetch(`${world.origin}/v1/chat/completions`, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ model: seat.model, messages: HI }),
            });
            const json = (await answer.json()) as { provider?: string; model?: string };
            assert.equal(json.provider, provider);
            assert.equal(json.model, model);
          }
        });
      }

      test('hands on how long to wait', async () => {
        seat.answers({ status: 429, headers: { 'retry-after': '17' }, errorMessage: 'slow down' });
        const failure = await failureOf(stream());
        assert.ok(failure instanceof OpenAI.RateLimitError);
        assert.equal(failure.headers?.get('retry-after'), '17');
        assert.equal(seat.arrived.length, 1);
      });

      test('never shows a key, even when the upstream quotes it', async () => {
        const key = { openai: 'acme-key', anthropic: 'claude-key', google: 'gemini-key' }[format];
        seat.answers({ status: 401, errorMessage: `Incorrect API key provided: ${key}.` });
        const failure = await failureOf(whole());
        assert.ok(failure instanceof OpenAI.AuthenticationError);
        assert.doesNotMatch(JSON.stringify([failure.message, failure.error]), new RegExp(key));
      });

      for (const [name, fault] of [
        ['an error', { errorAfter: 3, errorMessage: 'the upstream gave up' }],
        ['a cut connection', { cutAfter: 3 }],
        ['an end without a finish', { endAfter: 3 }],
      ] as const satisfies readonly (readonly [string, VendorAnswer])[]) {
        test(`raises ${name} in the middle of a stream, after what came before it`, async () => {
          // The third piece comes in one read with the fault.
          seat.answers({ text: ['One ', 'two ', 'three ', 'four.'], burst: 2, delayMs: 20, ...fault });
          let content = '';
          let finish: string | null = null;
          const failure = await failureOf(
            (async () => {
              for await (const chunk of await stream()) {
                content += chunk.choices[0]?.delta.content ?? '';
                finish = chunk.choices[0]?.finish_reason ?? finish;
              }
            })(),
          );
          assert.ok(failure instanceof OpenAI.APIError, failure.message);
          assert.equal(content, 'One two three ');
          assert.equal(finish, null);
          if ('errorMessage' in fault) assert.match(failure.message, /the upstream gave up/);
        });

        test(`makes no whole answer of ${name}`, async () => {
          seat.answers({ text: ['One ', 'two ', 'three.'], ...fault });
          const failure = await failureOf(whole());
          assert.ok(failure instanceof OpenAI.InternalServerError, failure.message);
        });
      }

      test('closes the upstream when the client aborts in the middle of a stream', async () => {
        seat.answers({ text: ['One ', 'two ', 'three.'], stallAfter: 2 });
        const controller = new AbortController();
        let content = '';
        for await (const chunk of await stream({ signal: controller.signal })) {
          content += chunk.choices[0]?.delta.content ?? '';
          if (content === 'One two ') controller.abort();
        }
        assert.equal(content, 'One two ');
        assert.equal(await within(30_000, seat.last.closed), 'aborted');
      });

      test('closes the upstream when the client stops to iterate', async () => {
        seat.answers({ text: ['One ', 'two ', 'three.'], stallAfter: 2 });
        for await (const chunk of await stream()) if (chunk.choices[0]?.delta.content === 'two ') break;
        assert.equal(await within(30_000, seat.last.closed), 'aborted');
      });

      test('closes the upstream when the client no longer waits for a whole answer', async () => {
        seat.answers({ text: ['One ', 'two ', 'three.'], stallAfter: 2 });
        const controller = new AbortController();
        const failure = failureOf(
          world.client.chat.completions.create({ model: seat.model, messages: HI }, { signal: controller.signal }),
        );
        await eventually('it is asked', () => seat.arrived.length === 1);
        await new Promise((resolve) => setTimeout(resolve, 50));
        controller.abort();
        assert.ok((await failure) instanceof OpenAI.APIUserAbortError);
        assert.equal(await within(30_000, seat.last.closed), 'aborted');
      });

      test('closes the upstream when the client aborts before the first byte', async () => {
        seat.answers({ silent: true });
        for (const ask of [
          (signal: AbortSignal) => stream({ signal }),
          (signal: AbortSignal) =>
            world.client.chat.completions.create({ model: seat.model, messages: HI }, { signal }),
        ]) {
          const controller = new AbortController();
          const asked = seat.arrived.length;
          const failure = failureOf(ask(controller.signal));
          await eventually('it is asked again', () => seat.arrived.length > asked);
          controller.abort();
          assert.ok((await failure) instanceof OpenAI.APIUserAbortError);
          assert.equal(await within(30_000, seat.last.closed), 'aborted');
        }
      });

      // OpenAI's own format has choices: there is nothing to close.
      if (format !== 'openai')
        test('closes the other choices when one fails', async () => {
          let asked = 0;
          seat.answers(() => {
            asked += 1;
            return asked === 1 ? { text: ['One ', 'two ', 'three.'], stallAfter: 2 } : { status: 400 };
          });
          const failure = await failureOf(whole({ n: 2 }));
          assert.ok(failure instanceof OpenAI.BadRequestError, failure.message);
          assert.equal(await within(30_000, seat.arrived[0]?.closed), 'aborted');
        });

      test('refuses what is no request before anything goes upstream', async () => {
        seat.answers({ text: ['never'] });
        const failure = await failureOf(whole({ messages: [] }));
        assert.ok(failure instanceof OpenAI.UnprocessableEntityError, failure.message);
        assert.equal(failure.param, 'messages');
        assert.equal(seat.arrived.length, 0);
      });
    });
  }
});

interface Failure extends Error {
  readonly status?: number;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly param?: unknown;
  readonly error?: unknown;
  readonly headers?: Headers;
}

async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  try {
    await promise;
  } catch (error) {
    return error as Failure;
  }
  throw new Error('it did not fail');
}

/** What a promise gives, or that it gave nothing in time. */
function within<T>(milliseconds: number, promise: Promise<T> | undefined): Promise<T | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, milliseconds, undefined).unref());
  return Promise.race([promise, late]);
}
