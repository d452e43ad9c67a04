import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { z } from 'zod';
import { SluiceError } from '../core/errors.ts';
import { MessagesBody } from './messages/wire.ts';
import { ResponseBody } from './responses/wire.ts';
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

  test('where nothing tells which form was meant, that is what is missing', () => {
    assert.equal(part({}), "'content[0].type' is required.");
    assert.equal(part({ type: 5 }), "'content[0].type' must be a string.");
  });
});
