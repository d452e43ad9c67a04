import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { JoinedTexts } from './joined-texts.ts';

const says = (event: Record<string, unknown>) => ({ holder: event, member: 'text', of: String(event['of']) });

function sent(...events: readonly object[]): Buffer {
  return Buffer.from(events.map((event) => `event: piece\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}

describe('JoinedTexts', () => {
  test('neighbours of one text are one event with what the last one says beside it, and pieces again', () => {
    const texts = new JoinedTexts({ says });
    const bytes = sent({ of: 'a', text: 'Hel', tokens: 1 }, { of: 'a', text: 'lo', tokens: 2 }, { of: 'b', text: '!' });
    assert.equal(
      Buffer.from(texts.push(bytes) ?? []).toString(),
      'data: {"of":"a","text":"Hello","tokens":2}\n\ndata: {"of":"b","text":"!"}\n\n',
    );
    assert.deepEqual(texts.apart('Hello'), ['Hel', 'lo']);
    assert.deepEqual(texts.apart('Hello'), ['Hello']);
    assert.deepEqual(texts.apart('!'), ['!']);
  });

  test('what is not a piece stays between the pieces, as it came', () => {
    const texts = new JoinedTexts({ says: (event) => (event['of'] === undefined ? undefined : says(event)) });
    const bytes = Buffer.concat([
      sent({ of: 'a', text: 'x' }),
      Buffer.from('data: [DONE]\n\n'),
      sent({ of: 'a', text: 'y' }),
    ]);
    assert.equal(
      Buffer.from(texts.push(bytes) ?? []).toString(),
      'data: {"of":"a","text":"x"}\n\ndata: [DONE]\n\ndata: {"of":"a","text":"y"}\n\n',
    );
  });

  test('an event waits until it is complete, and one without an end is refused', () => {
    const texts = new JoinedTexts({ says });
    const bytes = sent({ of: 'a', text: 'x' });
    assert.equal(texts.push(bytes.subarray(0, -1)), undefined);
    assert.ok(texts.push(bytes.subarray(-1)) !== undefined);
    assert.equal(texts.push(Buffer.from('data: ')), undefined);
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    assert.throws(
      () => {
        for (let count = 0; count < 9; count += 1) texts.push(megabyte);
      },
      { code: 'upstream_invalid' },
    );
  });
});
