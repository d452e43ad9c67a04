import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testCall } from '../../test/support/call.ts';
import { chatRequest } from '../../test/support/chat-request.ts';
import type { MemoryStore } from '../core/stores.ts';
import { memoryStep } from './memory.ts';

/** What the memory is asked for when a user says a text. */
async function askedFor(text: string): Promise<string | undefined> {
  let asked: string | undefined;
  const memory: MemoryStore = {
    add: async () => {},
    delete: async () => 0,
    find: async (_user, query) => {
      asked = query.text;
      return { total: 0, items: [] };
    },
  };
  await memoryStep(memory).enrich(chatRequest(text, { memoryUser: 'u' }), testCall());
  return asked;
}

describe('what the memory is searched for', () => {
  test('the words of a question that say what it is about', async () => {
    assert.equal(await askedFor('What was the name of my dog?'), 'name dog');
  });

  test('words that no blanks part, too', async () => {
    assert.equal(await askedFor('东京天气怎么样?'), '东京 天气');
    assert.equal(await askedFor('港はどうですか。AIは?'), '港 AI');
    assert.equal(await askedFor('กาแฟอร่อยไหม'), 'กาแฟ อร่อย');
  });

  test('words without an end are no question: the memory gets their beginning', async () => {
    for (const text of ['a\u0301\u0302'.repeat(3_000_000), '中文'.repeat(1_500_000)]) {
      const asked = (await askedFor(text)) ?? '';
      assert.ok(asked.length > 0 && asked.length <= 20_000, `${asked.length} characters`);
      assert.ok(text.startsWith(asked));
    }
  });
});
