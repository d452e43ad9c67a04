import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { z } from 'zod';
import { SluiceError } from '../core/errors.ts';
import { MemoryBody } from './backend/wire.ts';
import { MessagesBody } from './messages/wire.ts';
import { ResponseBody } from './responses/wire.ts';
import { CompletionBody } from './v1/completion-body.ts';
import { EmbeddingBody } from './v1/embeddings.ts';
import { EditBody } from './v1/images-wire.ts';
import { ModerationBody } from './v1/moderations.ts';
import { validate } from './validate.ts';
import { WireMessage } from './wire.ts';

/** What a body is refused with. */
function refusal(schema: z.ZodType, value: unknown): string {
  try {
    validate(schema, value, 'invalid_field');
  } catch (error) {
    if (error instanceof SluiceError) return error.message;
    throw error;
  }
  return 'nothing';
}

describe('what may have several forms', () => {
  const part = (fields: object): string => refusal(WireMessage, { role: 'user', content: [fields] });
  const item = (fields: object): string => refusal(ResponseBody, { input: [fields] });

  test('the field is named that is wrong, not the one by which the forms are told apart', () => {
    assert.equal(part({ type: 'text', text: 5 }), "'content[0].text' must be a string.");
    assert.equal(part({ bucket_id: 5, url: '/files/a' }), "'content[0].bucket_id' must be a string.");
    assert.equal(part({ bucket_id: 'b', name: 5 }), "'content[0].name' must be a string.");
    assert.equal(item({ role: 'user', content: 5 }), "'input[0].content' must be a string or an array.");
    assert.equal(item({ type: 'message', role: 'user' }), "'input[0].content' must be a string or an array.");
    assert.equal(
      item({ type: 'message', role: 5, content: 'x' }),
      "'input[0].role' must be one of user, assistant, system, developer.",
    );
    const tools = [{ type: 'web_search_20250305', name: null }];
    assert.match(refusal(MessagesBody, { messages: [{ role: 'user', content: 'x' }], tools }), /'tools\[0\]\.name'/);
  });

  test('the form whose type fits says what is wrong with its size and its values', () => {
    const texts = (count: number): readonly string[] => Array(count).fill('a');
    for (const [schema, body, told] of [
      [EmbeddingBody, { input: texts(100_001) }, "'input' must have at most 100000 items."],
      [EmbeddingBody, { input: [] }, "'input' must have at least 1 item."],
      [EmbeddingBody, { input: [-1, 1.5] }, "'input[0]' must be at least 0."],
      [EmbeddingBody, { input: [1, 1.5] }, "'input[1]' must be a whole number."],
      [EmbeddingBody, { input: [1, 'a'] }, "'input[1]' must be a number."],
      [EmbeddingBody, { input: ['a', 1] }, "'input[1]' must be a string."],
      [CompletionBody, { prompt: texts(1_000) }, "'prompt' must have at most 128 items."],
      [CompletionBody, { prompt: [] }, "'prompt' must have at least 1 item."],
      [ModerationBody, { input: [] }, "'input' must have at least 1 item."],
      [EditBody, { prompt: 'x', image: texts(17) }, "'image' must have at most 16 items."],
      [
        EditBody,
        { prompt: 'x', image: { image_url: { url: '' } } },
        "'image.image_url.url' must have at least 1 character.",
      ],
    ] as const) {
      assert.equal(refusal(schema, body), told);
    }
  });

  test('where no type fits, all that would are named', () => {
    assert.equal(refusal(EditBody, { prompt: 'x', image: 5 }), "'image' must be a string, an object or an array.");
    assert.equal(refusal(EditBody, { prompt: 'x', image: [5] }), "'image[0]' must be a string or an object.");
    assert.equal(refusal(CompletionBody, { prompt: [true] }), "'prompt[0]' must be a string, a number or an array.");
    assert.equal(refusal(EmbeddingBody, { input: {} }), "'input' must be a string or an array.");
    const metadata = { k: [] };
    const told = "'items[0].metadata.k' must be a string, a number, a boolean or null.";
    assert.equal(refusal(MemoryBody, { items: [{ role: 'user', content: 'x', metadata }] }), told);
  });

  test('of one value it is not said that it is one of several', () => {
    const system = [{ type: 'thinking', text: 'x' }];
    const told = "'system[0].type' must be text.";
    assert.equal(refusal(MessagesBody, { system, messages: [{ role: 'user', content: 'x' }] }), told);
  });

  test('where nothing tells which form was meant, that is what is missing', () => {
    assert.equal(part({}), "'content[0].type' is required.");
    assert.equal(part({ type: 5 }), "'content[0].type' must be a string.");
  });
});
