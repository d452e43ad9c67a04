import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testCall } from '../../test/support/call.ts';
import { chatRequest } from '../../test/support/chat-request.ts';
import { handDeadlines } from '../../test/support/hand-deadlines.ts';
import type { CallScope } from '../core/call.ts';
import type { Batch } from '../core/chunk.ts';
import { SluiceError } from '../core/errors.ts';
import type { ImageAnswer, ImageWatcher, MadeImage } from '../core/image.ts';
import type { Model } from '../core/model.ts';
import type { Provider } from '../core/provider.ts';
import { type DrawingDeps, draw, imageAsChat } from './drawing.ts';

const PICTURE: MadeImage = { kind: 'image', url: 'https://pictures.example/1.png' };
const MADE: ImageAnswer = { images: [PICTURE] };
const ASKED = { task: 'generate', prompt: 'a boat', n: 1, images: [], fields: {} } as const;

type Ways = Pick<Provider, 'image' | 'chat'>;

function providerOf(ways: Ways): Provider {
  return { id: 'acme', label: 'Acme', origin: 'file', auth: { kind: 'none' }, models: async () => [], ...ways };
}

/** A studio whose time the test has in its hand; `touched` counts the signs of life that its deadline got. */
function studio(limits: Partial<DrawingDeps['limits']> = {}) {
  const time = handDeadlines();
  let touched = 0;
  const deadlines = {
    start: (milliseconds: number, onExpire: () => void) => ({
      ...time.deadlines.start(milliseconds, onExpire),
      touch: () => {
        touched += 1;
      },
    }),
  } as DrawingDeps['deadlines'];
  const look: DrawingDeps['look'] = ({ chat }) => (chat === undefined ? {} : { type: 'chat', image: true }) as Model;
  const deps: DrawingDeps = { deadlines, limits: { imageMs: 60_000, answerBytes: 1_000_000, ...limits }, look };
  return {
    deps,
    time,
    touched: () => touched,
    draw: (ways: Ways, scope: CallScope, fields: Partial<Parameters<typeof draw>[1]> = {}) =>
      draw({ provider: providerOf(ways), model: 'm' }, { ...ASKED, ...fields }, scope, deps),
  };
}

describe('drawing', { timeout: 60_000 }, () => {
  test('a provider that heeds no signal is not waited for', async () => {
    const { draw, time } = studio();
    const image = () => new Promise<never>(() => {});
    const call = testCall();
    const left = draw({ image }, call);
    call.cancel(new SluiceError('cancelled', 'left'));
    await assert.rejects(left, { code: 'cancelled', message: 'left' });
    const late = draw({ image }, testCall());
    time.expire();
    await assert.rejects(late, { code: 'upstream_timeout' });
  });

  test('one that heeds it is not asked why it stopped', async () => {
    const { draw, time } = studio();
    const late = draw(
      {
        image: (_request, call) =>
          new Promise((_resolve, reject) => {
            call.signal.addEventListener('abort', () => reject(new Error('aborted')));
          }),
      },
      testCall(),
    );
    time.expire();
    await assert.rejects(late, { code: 'upstream_timeout' });
  });

  test('what fails ends whatever else runs for it, and is told itself', async () => {
    const { draw, time } = studio();
    const failure = new SluiceError('upstream_failed', 'crashed');
    for (const image of [
      () => Promise.reject(failure),
      () => {
        throw failure;
      },
    ]) {
      const call = testCall();
      await assert.rejects(draw({ image }, call), failure);
      assert.equal(call.cancelled, failure);
    }
    assert.deepEqual(time.open, []);
  });

  test('once it is done, neither time nor the end of the request mean it', async () => {
    const { draw, time } = studio();
    const request = testCall();
    const attempt = request.fork();
    assert.deepEqual(await draw({ image: async () => MADE }, attempt), MADE);
    assert.deepEqual(time.open, []);
    request.cancel();
    assert.equal(attempt.cancelled, undefined);
  });

  test('signs of life and unfinished pictures give it more time', async () => {
    const { draw, touched } = studio();
    const seen: number[] = [];
    const image = async (_request: unknown, _call: unknown, watcher: ImageWatcher): Promise<ImageAnswer> => {
      watcher.alive();
      seen.push(touched());
      watcher.partial(PICTURE, 0);
      seen.push(touched());
      return MADE;
    };
    await draw({ image }, testCall());
    assert.deepEqual(seen, [1, 2]);
  });

  test('by chat, there is a chat for every picture, and an end to each of them', async () => {
    let asked = 0;
    async function* chat(): AsyncGenerator<Batch> {
      asked += 1;
      yield [{ type: 'media', media: { ...PICTURE, alt: '' } }];
    }
    const { images } = await studio().draw({ chat }, testCall(), { n: 6 });
    assert.deepEqual([images.length, asked], [6, 6]);

    async function* talk(): AsyncGenerator<Batch> {
      for (let said = 0; said < 1_000; said += 1) yield [{ type: 'content', content: 'x'.repeat(1_000) }];
    }
    const call = testCall();
    await assert.rejects(studio({ answerBytes: 30_000 }).draw({ chat: talk }, call), {
      code: 'upstream_invalid',
      message: /larger than/,
    });
    assert.ok(call.cancelled, 'and so is whatever runs beside it');
  });
});

describe('a picture as the answer of a chat', { timeout: 60_000 }, () => {
  test('each unfinished one is shown once', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { promise: made, resolve } = Promise.withResolvers<ImageAnswer>();
    const watchers: ImageWatcher[] = [];
    const provider = providerOf({
      image: (_request, _call, watcher) => {
        watchers.push(watcher);
        return made;
      },
    });
    const chunks = imageAsChat(provider, studio().deps, 'a boat').chat?.(chatRequest('a boat'), testCall());
    const batches = (chunks ?? assert.fail('it has no chat'))[Symbol.asyncIterator]();
    const types = async (): Promise<string[]> => {
      const next = batches.next();
      context.mock.timers.tick(1_000);
      const { value } = await next;
      return ((value ?? []) as Batch).map(({ type }) => type);
    };
    assert.deepEqual(await types(), []);
    watchers[0]?.partial(PICTURE, 0);
    assert.deepEqual(await types(), ['preview']);
    assert.deepEqual(await types(), [], 'a sign of life, and no more');
    resolve(MADE);
    const rest: string[] = [];
    for (let some = await types(); some.length > 0 || rest.length === 0; some = await types()) rest.push(...some);
    assert.deepEqual(rest, ['media', 'finish']);
  });
});
