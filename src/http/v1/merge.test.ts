import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Batch } from '../../core/chunk.ts';
import { interleaved } from './merge.ts';

test('a choice that fails while its client reads slowly is told once the client goes on', async (context) => {
  const unhandled = context.mock.fn();
  process.on('unhandledRejection', unhandled);
  context.after(() => process.off('unhandledRejection', unhandled));
  async function* cut(): AsyncGenerator<Batch> {
    yield [{ type: 'content', content: 'a' }];
    throw new Error('cut');
  }
  const merged = interleaved([cut()]);
  assert.deepEqual((await merged.next()).value, [0, [{ type: 'content', content: 'a' }]]);
  await turn();
  assert.equal(unhandled.mock.callCount(), 0);
  await assert.rejects(merged.next(), /cut/);
});
