import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Batch } from '../core/chunk.ts';
import { hidingThoughts as hidingFromGemini } from './gemini/hidden.ts';
import { hidingThoughts as hidingFromMessages } from './messages/hidden.ts';

test('a model that thinks without end does not fill the memory of those who see nothing of it', async () => {
  async function* thinking(): AsyncGenerator<Batch> {
    for (;;) yield [{ type: 'reasoning', reasoning: 'Hm. ' }];
  }
  for (const hiding of [hidingFromGemini, hidingFromMessages])
    await assert.rejects(hiding(thinking(), 1_000)[Symbol.asyncIterator]().next(), { code: 'upstream_invalid' });
});
