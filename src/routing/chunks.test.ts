import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { testLogger } from '../../test/support/call.ts';
import { chatRequest } from '../../test/support/chat-request.ts';
import { eventually } from '../../test/support/eventually.ts';
import { defaultLimits } from '../config/defaults.ts';
import { CallScope } from '../core/call.ts';
import type { Batch, Chunk, Usage } from '../core/chunk.ts';
import { SluiceError } from '../core/errors.ts';
import type { Provider } from '../core/provider.ts';
import { openChunks } from './chunks.ts';
import { Deadlines } from './deadlines.ts';

const USAGE: Usage = { promptTokens: 11, completionTokens: 7, totalTokens: 18 };
const content = (text: string): Chunk => ({ type: 'content', content: text });
const usage: Chunk = { type: 'usage', usage: USAGE };
const finish: Chunk = { type: 'finish', finish: 'stop' };

interface Setup {
  readonly scope: CallScope;
  readonly usages: Usage[];
  /** Whether the provider's generator has been left. */
  isClosed(): boolean;
  open(limits?: Partial<typeof defaultLimits>): ReturnType<typeof openChunks>;
}

/** A provider that yields as scripted: batches, errors to throw, milliseconds to wait, what passes while it works. */
function setup(...script: readonly (Batch | Error | number | (() => void))[]): Setup {
  const scope = new CallScope('request', testLogger());
  const usages: Usage[] = [];
  let closed = false;
  const provider: Provider = {
    id: 'acme',
    label: 'Acme',
    origin: 'file',
    auth: { kind: 'none' },
    models: async () => [],
    async *chat(_request, call) {
      try {
        for (const step of script) {
          if (step instanceof Error) throw step;
          if (typeof step === 'function') step();
          // It hears of a call that was given up only where it waits.
          if (typeof step === 'function') await sleep(1, undefined, { signal: call.signal });
          else if (typeof step === 'number') await sleep(step, undefined, { signal: call.signal });
          else yield step;
        }
      } finally {
        closed = true;
      }
    },
  };
  return {
    scope,
    usages,
    isClosed: () => closed,
    open: (limits = {}) =>
      openChunks(
        { provider, model: 'm-1' },
        chatRequest('Hi'),
        scope,
        new Deadlines(),
        { ...defaultLimits, ...limits },
        ({ usage }) => usage !== undefined && usages.push(usage),
      ),
  };
}

async function read(chunks: AsyncIterable<Batch>): Promise<{ chunks: Chunk[]; error: SluiceError | undefined }> {
  const all: Chunk[] = [];
  try {
    for await (const batch of chunks) for (const chunk of batch) all.push(chunk);
  } catch (error) {
    assert.ok(error instanceof SluiceError);
    return { chunks: all, error };
  }
  return { chunks: all, error: undefined };
}

const typesOf = (chunks: readonly Chunk[]): string[] => chunks.map(({ type }) => type);

describe('an answer in chunks', () => {
  test('keeps the word that ended an answer', async () => {
    const { open } = setup([content('Hi'), { type: 'finish', finish: 'stop', stopSequence: 'END' }]);
    const chunks: Chunk[] = [];
    for await (const batch of (await open()).chunks) chunks.push(...batch);
    assert.deepEqual(chunks.at(-1), { type: 'finish', finish: 'stop', stopSequence: 'END' });
  });

  test('provider first, usage and finish last, wherever they came', async () => {
    const { open, usages } = setup([usage, content('a')], [finish], [content('b'), usage]);
    const { chunks } = await read((await open()).chunks);
    assert.deepEqual(typesOf(chunks), ['provider', 'content', 'content', 'usage', 'finish']);
    assert.deepEqual(chunks[0], { type: 'provider', provider: { id: 'acme', label: 'Acme', url: null, model: 'm-1' } });
    assert.deepEqual(usages, [USAGE]);
  });

  test('calls without end are a failure, by their number and by their size', async () => {
    const call = (index: number, text = ''): Chunk => ({ type: 'tool_call', tool_call: { index, arguments: text } });
    const many = Array.from({ length: 260 }, (_, at) =>
      Array.from({ length: 1_000 }, (_, of) => call(at * 1_000 + of)),
    );
    for (const script of [many, [many.flat()]]) {
      const { error } = await read((await setup(...script, [finish]).open()).chunks);
      assert.equal(error?.code, 'upstream_invalid');
      assert.deepEqual(error?.options.provider, 'acme');
    }
    const large = setup(...Array.from({ length: 50 }, () => [call(0, 'x'.repeat(1_000))]), [finish]);
    assert.equal((await read((await large.open({ answerBytes: 20_000 })).chunks)).error?.code, 'upstream_invalid');
    assert.ok(large.isClosed());
    assert.equal((await read((await setup(...many.slice(0, 250), [finish]).open()).chunks)).error, undefined);
  });

  test('a batch of any length', async () => {
    const batch = [...Array.from({ length: 300_000 }, (): Chunk => ({ type: 'log', log: '' }) as Chunk), content('a')];
    const { error } = await read((await setup(batch, [finish]).open()).chunks);
    assert.equal(error, undefined);
  });

  test('a usage is estimated where there is none', async () => {
    const { open, usages } = setup([content('ü'.repeat(100))], [finish]);
    const { chunks } = await read((await open()).chunks);
    const counted = chunks.find((chunk) => chunk.type === 'usage');
    assert.equal(counted?.usage.estimated, true);
    assert.equal(counted?.usage.completionTokens, 50);
    assert.equal(usages.length, 1);
    const short = await read((await setup([content('a')], [content('abc')], [finish]).open()).chunks);
    assert.equal(short.chunks.find((chunk) => chunk.type === 'usage')?.usage.completionTokens, 1);
    const least = await read((await setup([content('a')], [content('b')], [finish]).open()).chunks);
    assert.equal(least.chunks.find((chunk) => chunk.type === 'usage')?.usage.completionTokens, 0);
  });

  test('what a model refuses with, and what it speaks, is estimated too', async () => {
    const url = 'data:audio/wav;base64,AAAA';
    for (const said of [
      { type: 'refusal', refusal: 'x'.repeat(40) },
      { type: 'media', media: { kind: 'audio', url, transcript: 'x'.repeat(40) } },
    ] as const) {
      const { chunks } = await read((await setup([said], [finish]).open()).chunks);
      assert.equal(chunks.find((chunk) => chunk.type === 'usage')?.usage.completionTokens, 10, said.type);
    }
  });

  test('an answer without anything to see is one, if it ends as such', async () => {
    const { chunks } = await read((await setup([], [], [finish]).open()).chunks);
    assert.deepEqual(typesOf(chunks), ['provider', 'usage', 'finish']);
    await assert.rejects(setup([], []).open(), { code: 'upstream_cut' });
    await assert.rejects(setup().open(), { code: 'upstream_cut' });
  });

  test('a failure before the first visible chunk is thrown, and the provider closed', async () => {
    const failing = setup([{ type: 'log', log: 'x' }], [content('')], new SluiceError('overloaded', 'full'), [
      content('late'),
    ]);
    await assert.rejects(failing.open(), { code: 'overloaded' });
    assert.ok(failing.isClosed());
  });

  test('a failure after it comes behind what was said, and names where it came from', async () => {
    const { open, usages } = setup([content('a')], [content('b')], new SluiceError('overloaded', 'full'));
    const { chunks, error } = await read((await open()).chunks);
    assert.deepEqual(typesOf(chunks), ['provider', 'content', 'content']);
    assert.deepEqual([error?.code, error?.options.provider, error?.options.model], ['overloaded', 'acme', 'm-1']);
    assert.deepEqual(usages, [], 'an answer that failed is not counted as one');
  });

  test('an end without a finish is a failure', async () => {
    const { error } = await read((await setup([content('a')]).open()).chunks);
    assert.equal(error?.code, 'upstream_cut');
  });

  test('nothing in time, and silence', async () => {
    const slow = setup(5_000, [content('late')]);
    await assert.rejects(slow.open({ firstByteMs: 100 }), { code: 'upstream_timeout' });
    const silent = setup([content('a')], 5_000, [content('late')]);
    const { chunks, error } = await read((await silent.open({ idleMs: 100 })).chunks);
    assert.deepEqual(typesOf(chunks), ['provider', 'content']);
    assert.equal(error?.code, 'upstream_timeout');
    await eventually('both are closed', () => slow.isClosed() && silent.isClosed());
  });

  test('signs of life count, and so does time that only the client takes', async (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] });
    let now = 0;
    context.mock.method(performance, 'now', () => now);
    const pass = (milliseconds: number) => (): void => {
      now += milliseconds;
      context.mock.timers.tick(100);
    };
    const works = pass(400);
    const alive = setup(
      ...Array.from({ length: 15 }, () => [works, [] as Batch]).flat(),
      [content('a')],
      works,
      [content('b')],
      works,
      [finish],
    );
    const { chunks } = await alive.open({ firstByteMs: 600, idleMs: 600 });
    const all: Chunk[] = [];
    for await (const batch of chunks) {
      all.push(...batch);
      pass(900)();
    }
    assert.deepEqual(typesOf(all), ['provider', 'content', 'content', 'usage', 'finish']);
  });

  test('a client that leaves closes the provider, before and after the beginning', async () => {
    const before = setup(5_000, [content('late')]);
    const opening = before.open();
    before.scope.cancel(new SluiceError('cancelled', 'left'));
    await assert.rejects(opening, { code: 'cancelled' });
    const after = setup([content('a')], 5_000, [content('late')]);
    const { chunks } = await after.open();
    setTimeout(() => after.scope.cancel(new SluiceError('cancelled', 'left')), 50);
    assert.equal((await read(chunks)).error?.code, 'cancelled');
    const stopped = setup([content('a')], [content('b')], [finish]);
    for await (const _batch of (await stopped.open()).chunks) break;
    await eventually('all are closed', () => before.isClosed() && after.isClosed() && stopped.isClosed());
  });
});
