import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Chunk } from '../../core/chunk.ts';
import { AnswerQueue } from './answer-queue.ts';

describe('an answer on its way', () => {
  const chunk = (content: string): Chunk => ({ type: 'content', content });

  test('leaves in one batch what came while nobody read', async () => {
    const queue = new AnswerQueue();
    const reader = queue.read();
    queue.push(chunk('a'));
    queue.push(chunk('b'), chunk('c'));
    assert.deepEqual(await reader.next(), { done: false, value: [chunk('a'), chunk('b'), chunk('c')] });
    const next = reader.next();
    queue.push(chunk('d'));
    assert.deepEqual(await next, { done: false, value: [chunk('d')] });
    queue.end();
    assert.equal((await reader.next()).done, true);
  });

  test('gives an empty batch for a sign of life, and none beside text', async () => {
    const queue = new AnswerQueue();
    const reader = queue.read();
    const next = reader.next();
    queue.beat();
    assert.deepEqual((await next).value, []);
    queue.beat();
    queue.push(chunk('a'));
    assert.deepEqual((await reader.next()).value, [chunk('a')]);
    queue.end();
    assert.equal((await reader.next()).done, true);
  });

  test('gives what was there before an error', async () => {
    const queue = new AnswerQueue();
    queue.push(chunk('a'));
    queue.end(new Error('crash'));
    queue.push(chunk('too late'));
    queue.end(new Error('too late'));
    const reader = queue.read();
    assert.deepEqual((await reader.next()).value, [chunk('a')]);
    await assert.rejects(reader.next(), /crash/);
  });

  test('gives nothing but the reason once it is cancelled', async () => {
    const queue = new AnswerQueue();
    queue.push(chunk('a'));
    queue.cancel(new Error('left'));
    await assert.rejects(queue.read().next(), /left/);
  });

  test('that is complete stays complete when it is cancelled', async () => {
    const queue = new AnswerQueue();
    queue.push(chunk('a'));
    queue.end();
    queue.cancel(new Error('left'));
    assert.deepEqual(await Array.fromAsync(queue.read()), [[chunk('a')]]);
  });
});
