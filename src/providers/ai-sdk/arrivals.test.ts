import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { Arrivals } from './arrivals.ts';

describe('Arrivals', () => {
  test('what is there comes at once, what is not there yet comes later', async () => {
    const { stream, controller } = pushed<number>();
    const arrivals = new Arrivals(stream);
    const first = arrivals.next();
    for (const item of [1, 2, 3]) controller.enqueue(item);
    assert.deepEqual(await first, [1, 2, 3]);
    const second = arrivals.next();
    controller.enqueue(4);
    assert.deepEqual(await second, [4]);
    controller.close();
    assert.equal(await arrivals.next(), undefined);
    assert.equal(await arrivals.next(), undefined);
  });

  test('items that arrive through slow transforms still make one batch', async () => {
    const { stream, controller } = pushed<number>();
    const slow = new TransformStream<number, number>({
      async transform(item, output) {
        for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
        output.enqueue(item * 2);
      },
    });
    const arrivals = new Arrivals(stream.pipeThrough(slow));
    const first = arrivals.next();
    for (let item = 0; item < 50; item += 1) controller.enqueue(item);
    const items = await first;
    assert.equal(items?.length, 50);
    assert.equal(items?.at(-1), 98);
  });

  test('an error comes after what came before it', async () => {
    const { stream, controller } = pushed<number>();
    const arrivals = new Arrivals(stream);
    const first = arrivals.next();
    controller.enqueue(1);
    assert.deepEqual(await first, [1]);
    const second = arrivals.next();
    controller.error(new Error('broken'));
    await assert.rejects(second, /broken/);
    await assert.rejects(arrivals.next(), /broken/);
  });

  test('a flood is cut into batches, and nothing is read that is not asked for', async () => {
    let pulled = 0;
    const stream = new ReadableStream<number>(
      {
        pull(controller) {
          pulled += 1;
          controller.enqueue(pulled);
        },
      },
      { highWaterMark: 0 },
    );
    const arrivals = new Arrivals(stream);
    const first = await arrivals.next();
    assert.equal(first?.length, 256);
    for (let turn = 0; turn < 5; turn += 1) await immediate();
    assert.ok(pulled <= 257, `${pulled}`);
    const second = await arrivals.next();
    assert.equal(second?.[0], 257);
    arrivals.close();
  });

  test('close() cancels the stream, drain() lets it end', async () => {
    for (const way of ['close', 'drain'] as const) {
      const { stream, controller, cancelled } = pushed<number>();
      const arrivals = new Arrivals(stream);
      const first = arrivals.next();
      controller.enqueue(1);
      await first;
      arrivals[way]();
      arrivals.close();
      await immediate();
      assert.equal(cancelled(), way === 'close');
      if (way === 'drain') controller.close();
    }
  });
});

function pushed<Item>(): {
  stream: ReadableStream<Item>;
  controller: ReadableStreamDefaultController<Item>;
  cancelled: () => boolean;
} {
  let isCancelled = false;
  let controller: ReadableStreamDefaultController<Item> | undefined;
  const stream = new ReadableStream<Item>({
    start(given) {
      controller = given;
    },
    cancel() {
      isCancelled = true;
    },
  });
  if (controller === undefined) throw new Error('a stream starts at once');
  return { stream, controller, cancelled: () => isCancelled };
}
