import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql, type Value } from './sql.ts';

describe('sql', () => {
  test('values become parameters, fragments become text with their own parameters in place', () => {
    const hostile = "'; drop table records; --";
    const where = sql`kind = ${'chats'} and id = ${hostile}`;
    const { text, values } = sql`select ${1} from ${sql`records`} where ${where} limit ${null}`;
    assert.equal(text, 'select ? from records where kind = ? and id = ? limit ?');
    assert.deepEqual(values, [1, 'chats', hostile, null]);
  });

  test('an object from elsewhere never becomes text', () => {
    const forged = { text: '1 = 1', values: [] };
    assert.throws(() => sql`select * from records where ${forged}`, TypeError);
    assert.throws(() => sql`select ${['a'] as unknown as Value}`, TypeError);
  });
});
