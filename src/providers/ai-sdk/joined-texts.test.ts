import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { JoinedTexts } from './joined-texts.ts';

const LIMIT = 1024 * 1024;

const says = (event: Record<string, unknown>) => ({ holder: event, member: 'text', of: String(event['of']) });

function sent(...events: readonly object[]): Buffer {
  return Buffer.from(events.map((event) => `event: piece\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}

describe('JoinedTexts', () => {
  test('neighbours of one text are one event with what the last one says beside it, and pieces again', () => {
    const texts = new JoinedTexts({ says }, LIMIT);
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
    const texts = new JoinedTexts({ says: (event) => (event['of'] === undefined ? undefined : says(event)) }, LIMIT);
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

  test('pieces that are alike but for their text are each what they say, however they are written', () => {
    // Two texts in turns, escapes, members beside the text, twice, and that only look like it.
    const lines = [
      '{"of":"a","text":"Hel"}',
      '{"of":"a","text":"l\\u006f"}',
      '{"of":"a","text":"\\n\\"}"}',
      '{"of":"a","text": " spaced"}',
      '{"of":"b","text":"other"}',
      '{"of":"a","text":"again"}',
      '{"of":"a","text":"","tokens":3}',
      '{"of":"a","text":"twice","text":"last"}',
      '{"of":"a","text":"no end}',
      '{"of":"a","text":"x","of":"b"}',
      '{"of":"a","text":"text\\":\\"y"}',
      '{"of":"a","text":7}',
    ];
    const parsed = (line: string): Record<string, unknown> => {
      try {
        return JSON.parse(line);
      } catch {
        return {};
      }
    };
    const isSaid = (event: Record<string, unknown>) => (typeof event['text'] === 'string' ? says(event) : undefined);
    /** What is said of which text; neighbours of one text are one, since the library may read them so. */
    const told = (events: readonly string[], textsOf: (text: string) => readonly string[]): string[] => {
      const all: string[] = [];
      for (const line of events) {
        const { of, text } = parsed(line);
        if (typeof text !== 'string') all.push(line);
        else if (all.at(-1)?.startsWith(`${of}: `)) all.push(all.pop() + textsOf(text).join(''));
        else all.push(`${of}: ${textsOf(text).join('')}`);
      }
      return all;
    };
    // Three of them in each order, all in one read.
    for (const first of lines) {
      for (const second of lines) {
        for (const third of lines) {
          const events = [first, first, second, second, third, third, first];
          const texts = new JoinedTexts({ says: isSaid }, LIMIT);
          const joined = texts.push(Buffer.from(events.map((line) => `data: ${line}\n\n`).join('')));
          const read = Buffer.from(joined ?? [])
            .toString()
            .split('\n\n')
            .slice(0, -1);
          const lineOf = (event: string): string => event.slice('data: '.length);
          assert.deepEqual(
            told(read.map(lineOf), (text) => texts.apart(text)),
            told(events, (text) => [text]),
            events.join('\n'),
          );
        }
      }
    }
  });

  test('an event waits until it is complete, and one without an end is refused', () => {
    const texts = new JoinedTexts({ says }, LIMIT);
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
