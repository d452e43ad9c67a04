import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testCall } from '../../test/support/call.ts';
import { chatRequest } from '../../test/support/chat-request.ts';
import type { Message } from '../core/chat.ts';
import type { Batch, Chunk, MediaRef } from '../core/chunk.ts';
import { SluiceError } from '../core/errors.ts';
import type { MediaStore, SavedMedia, SaveOptions } from '../media/store.ts';
import { mediaStep } from './media.ts';

const PROVIDER: Chunk = { type: 'provider', provider: { id: 'painter', label: 'Painter', url: null, model: 'flux' } };
const END: Batch = [
  { type: 'usage', usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 } },
  { type: 'finish', finish: 'stop' },
];
const image = (url: string, more: Partial<MediaRef> = {}): Chunk => ({
  type: 'media',
  media: { kind: 'image', url, ...more },
});
const text = (content: string): Chunk => ({ type: 'content', content });

interface Asked {
  readonly source: string;
  readonly options: SaveOptions;
  finish(result?: Partial<SavedMedia> | Error): void;
}

/** A store whose downloads end when the test says so; inline media are there at once. */
function manualStore(): { readonly media: MediaStore; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const saved = (source: string, more: Partial<SavedMedia> = {}): SavedMedia => {
    const name = source.slice(-5);
    return {
      name,
      path: `/media/${name}`,
      kind: 'image',
      mimeType: 'image/png',
      size: 1,
      width: 8,
      height: 6,
      ...more,
    };
  };
  const media = {
    async save(source: string, options: SaveOptions) {
      const { promise, resolve, reject } = Promise.withResolvers<SavedMedia>();
      const finish = (result?: Partial<SavedMedia> | Error): void =>
        result instanceof Error ? reject(result) : resolve(saved(source, result));
      asked.push({ source, options, finish });
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      if (source.startsWith('data:')) finish();
      return promise;
    },
  } as unknown as MediaStore;
  return { media, asked };
}

const originsOf = (provider: string): readonly string[] => (provider === 'painter' ? ['http://127.0.0.1:9'] : []);

function keep(source: AsyncIterable<Batch>, media: MediaStore, call = testCall(), fields = {}) {
  const request = chatRequest('Draw a cat', { downloadMedia: true, aspectRatio: '16:9', ...fields });
  const enriched = mediaStep({ media, originsOf }).enrich(request, call);
  assert.ok(!('then' in enriched) && enriched.request === request);
  return enriched.chunks?.(source) ?? source;
}

async function* stream(...batches: readonly Batch[]): AsyncGenerator<Batch> {
  yield* batches;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('keeping media of an answer', () => {
  test('nothing happens when it is not wanted', () => {
    const source = stream([PROVIDER]);
    assert.equal(keep(source, manualStore().media, testCall(), { downloadMedia: false }), source);
  });

  test('inline media are replaced in their place', async () => {
    const { media, asked } = manualStore();
    const source = stream([PROVIDER], [text('a'), image('data:x,1.png', { alt: 'A dog' }), text('b')], END);
    const chunks = (await Array.fromAsync(keep(source, media))).flat();
    assert.deepEqual(chunks, [
      PROVIDER,
      text('a'),
      image('/media/1.png', { alt: 'A dog', mimeType: 'image/png', width: 8, height: 6 } as never),
      text('b'),
      ...END,
    ]);
    const { signal, ...options } = asked[0]?.options ?? {};
    assert.ok(signal);
    assert.deepEqual(options, { tags: ['flux', '16:9'], alt: 'A dog', allowedOrigins: ['http://127.0.0.1:9'] });
  });

  test('the rest of the answer flows on while something is downloaded; the end waits for it', async () => {
    const { media, asked } = manualStore();
    const source = stream([PROVIDER], [image('https://x.example/1.png')], [text('a')], [text('b'), ...END]);
    const iterator = keep(source, media)[Symbol.asyncIterator]();
    const next = async () => (await iterator.next()).value;
    assert.deepEqual(await next(), [PROVIDER]);
    assert.deepEqual(await next(), [text('a')]);
    assert.deepEqual(await next(), [text('b')]);
    const arriving = next();
    await settle();
    assert.equal(asked[0]?.options.alt, 'Draw a cat');
    asked[0]?.finish();
    const source1 = { source: 'https://x.example/1.png', mimeType: 'image/png', width: 8, height: 6 };
    assert.deepEqual(await arriving, [image('/media/1.png', source1 as never)]);
    assert.deepEqual(await next(), END);
    assert.equal((await iterator.next()).done, true);
  });

  test('what arrives is sent at once, while the provider is silent', async () => {
    const { media, asked } = manualStore();
    const silence = Promise.withResolvers<void>();
    const source = (async function* () {
      yield [PROVIDER, image('https://x.example/1.png'), image('https://x.example/2.png')];
      await silence.promise;
      yield END;
    })();
    const iterator = keep(source, media)[Symbol.asyncIterator]();
    await iterator.next();
    const second = iterator.next();
    await settle();
    asked[1]?.finish();
    asked[0]?.finish({ kind: 'video', mimeType: 'video/mp4', width: undefined, height: undefined } as never);
    const [first] = (await second).value as Batch;
    assert.ok(first?.type === 'media' && first.media.url === '/media/1.png' && first.media.kind === 'video');
    const [other] = (await iterator.next()).value as Batch;
    assert.ok(other?.type === 'media' && other.media.url === '/media/2.png', 'in the order of the answer');
    silence.resolve();
    assert.deepEqual((await iterator.next()).value, END);
  });

  test('no more than four are downloaded at once', async () => {
    const { media, asked } = manualStore();
    const many = Array.from({ length: 6 }, (_, at) => image(`https://x.example/${at}.png`));
    const collected = Array.fromAsync(keep(stream([PROVIDER], many, END), media));
    await settle();
    assert.equal(asked.length, 4);
    asked[2]?.finish();
    await settle();
    assert.equal(asked.length, 5);
    for (const at of [0, 1, 3, 4]) asked[at]?.finish();
    await settle();
    asked[5]?.finish();
    const urls = (await collected).flat().flatMap((chunk) => (chunk.type === 'media' ? [chunk.media.url] : []));
    assert.deepEqual(
      urls,
      [0, 1, 2, 3, 4, 5].map((at) => `/media/${at}.png`),
    );
  });

  test('what cannot be had keeps its address, and a log chunk tells why; internals stay out of it', async () => {
    const { media, asked } = manualStore();
    const call = testCall();
    const pictures = [image('https://x.example/1.png'), image('https://x.example/2.png')];
    const collected = Array.fromAsync(keep(stream([PROVIDER], pictures, END), media, call));
    await settle();
    asked[0]?.finish(new SluiceError('upstream_failed', "'https://x.example/1.png' answered 404."));
    asked[1]?.finish(new Error('EACCES /home/someone'));
    const chunks = (await collected).flat();
    assert.deepEqual(chunks.slice(1, 4), [
      pictures[0],
      { type: 'log', log: "The image was not kept: 'https://x.example/1.png' answered 404." },
      pictures[1],
    ]);
    assert.doesNotMatch(JSON.stringify(chunks), /EACCES/);
    assert.equal(call.log.lines.length, 2);
  });

  test('what is kept already stays as it is', async () => {
    const { media, asked } = manualStore();
    const chunks = (await Array.fromAsync(keep(stream([PROVIDER, image('/media/old.png')], END), media))).flat();
    assert.deepEqual(chunks, [PROVIDER, image('/media/old.png'), ...END]);
    assert.equal(asked.length, 0);
  });

  test('an address without a scheme is none of ours', async () => {
    const { media, asked } = manualStore();
    const collected = Array.fromAsync(keep(stream([PROVIDER, image('//x.example/1.png')], END), media));
    await settle();
    asked[0]?.finish(new SluiceError('invalid_request', 'This is no address.'));
    assert.equal(asked[0]?.source, '//x.example/1.png');
    assert.deepEqual((await collected).flat().slice(1, 3), [
      image('//x.example/1.png'),
      { type: 'log', log: 'The image was not kept: This is no address.' },
    ]);
  });

  test('who answers may be told together with the media, and after others', async () => {
    const { media, asked } = manualStore();
    const other: Chunk = { type: 'provider', provider: { id: 'other', label: 'Other', url: null, model: 'dall' } };
    const batches = [[other], [image('data:x,1.png')], [PROVIDER, image('data:x,2.png')], [...END]];
    await Array.fromAsync(keep(stream(...batches), media));
    assert.deepEqual(
      asked.map(({ options: { tags, allowedOrigins } }) => [tags?.[0], allowedOrigins]),
      [
        ['dall', []],
        ['flux', ['http://127.0.0.1:9']],
      ],
    );
  });

  test('they are found by the beginning of the last question, and by the resolution', async () => {
    const { media, asked } = manualStore();
    const said = (role: 'user' | 'assistant', content: string): Message => ({
      role,
      content: [{ type: 'text', text: content }],
    });
    const messages = [said('user', 'Hello'), said('user', `Draw ${'x'.repeat(300)}`), said('assistant', 'How?')];
    const source = stream([PROVIDER, image('data:x,1.png')], END);
    await Array.fromAsync(keep(source, media, testCall(), { messages, extra: { resolution: '2k', size: 7 } }));
    const { tags, alt } = asked[0]?.options ?? {};
    assert.deepEqual(tags, ['flux', '16:9', '2k']);
    assert.equal(alt, `Draw ${'x'.repeat(195)}`);
  });

  test('an answer with very many media keeps the first hundred', async () => {
    const { media } = manualStore();
    const many = Array.from({ length: 102 }, (_, at) => image(`data:x,${at}.png`));
    const chunks = (await Array.fromAsync(keep(stream([PROVIDER], many, END), media))).flat();
    const inline = chunks.filter((chunk) => chunk.type === 'media' && chunk.media.url.startsWith('data:'));
    assert.equal(inline.length, 2);
  });
});

describe('an answer that ends early', () => {
  test('without a word: it still waits for what is being downloaded', async () => {
    const { media, asked } = manualStore();
    const collected = Array.fromAsync(keep(stream([PROVIDER, image('https://x.example/1.png')]), media));
    await settle();
    assert.equal(asked[0]?.options.signal?.aborted, false);
    asked[0]?.finish();
    const chunks = (await collected).flat();
    assert.ok(chunks[1]?.type === 'media' && chunks[1].media.url === '/media/1.png', JSON.stringify(chunks));
  });

  test('by a failure: what was on its way is shown from where it is, then the failure', async () => {
    const { media } = manualStore();
    const source = (async function* () {
      yield [PROVIDER, image('https://x.example/1.png')];
      throw new SluiceError('upstream_cut', 'The provider ended its answer in the middle.');
    })();
    const seen: Chunk[] = [];
    await assert.rejects(async () => {
      for await (const batch of keep(source, media)) seen.push(...batch);
    }, /in the middle/);
    assert.deepEqual(
      seen.map(({ type }) => type),
      ['provider', 'media', 'log'],
    );
    assert.deepEqual(seen[1], image('https://x.example/1.png'));
  });

  test('because the client left: downloads are called off', async () => {
    const { media, asked } = manualStore();
    const call = testCall();
    const source = (async function* () {
      yield [PROVIDER, image('https://x.example/1.png')];
      await new Promise((_resolve, reject) => call.onCancel(reject));
    })();
    const collected = Array.fromAsync(keep(source, media, call));
    await settle();
    call.cancel();
    await assert.rejects(collected, call.cancelled);
    assert.equal(asked[0]?.options.signal?.aborted, true);
  });

  test('because the consumer stops before there were any media: the source is closed', async () => {
    let isClosed = false;
    const source = (async function* () {
      try {
        yield [PROVIDER];
        yield [text('a')];
      } finally {
        isClosed = true;
      }
    })();
    for await (const _batch of keep(source, manualStore().media)) break;
    assert.equal(isClosed, true);
  });

  test('because the consumer stops: the source is closed and downloads are called off', async () => {
    const { media, asked } = manualStore();
    let isClosed = false;
    const source = (async function* () {
      try {
        yield [PROVIDER, image('https://x.example/1.png')];
        yield [text('a')];
        yield END;
      } finally {
        isClosed = true;
      }
    })();
    for await (const batch of keep(source, media)) if (batch[0]?.type === 'content') break;
    await settle();
    assert.equal(isClosed, true);
    assert.equal(asked[0]?.options.signal?.aborted, true);
  });
});
