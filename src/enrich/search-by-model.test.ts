import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testCall } from '../../test/support/call.ts';
import { chatRequest } from '../../test/support/chat-request.ts';
import type { Batch } from '../core/chunk.ts';
import { searchByModel } from './search-by-model.ts';

test('a search whose words have no end is cut off', async () => {
  let pieces = 0;
  async function* endless(): AsyncGenerator<Batch> {
    yield [{ type: 'tool_call', tool_call: { index: 0, id: 'call', name: 'web_search', arguments: '{"query":"' } }];
    for (; pieces < 10_000; pieces += 1) {
      yield [{ type: 'tool_call', tool_call: { index: 0, arguments: 'a'.repeat(100) } }];
    }
  }
  const search = { isOn: true, search: () => Promise.reject(new Error('is not asked')) };
  const step = searchByModel(search, 10_000, () => Promise.reject(new Error('is not asked')));
  const { chunks } = await step.enrich(chatRequest('Hi'), testCall());
  await assert.rejects(async () => {
    for await (const _ of chunks?.(endless()) ?? []);
  }, /larger than Sluice takes in/);
  assert.ok(pieces < 100);
});
