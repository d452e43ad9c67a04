import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { EventReader, looksLikeEvents } from './events.ts';

const LIMIT = 10_000;

function read(pieces: readonly Buffer[]): string[] {
  const reader = new EventReader(LIMIT);
  return [...pieces.flatMap((piece) => [...reader.push(piece)]), ...reader.end()];
}

const line = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 10 }).map((text) => `data: ${text.toWellFormed()}`),
  fc.constantFrom(
    'data',
    'data:',
    'data:x',
    ': ping',
    'id: 1',
    'retry: 10',
    'retry: soon',
    'event: a',
    'datax: y',
    '',
    '',
    '',
  ),
);
const whole = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r', '\n\n')), { maxLength: 20 })
  .map((lines) => lines.flat().join(''));

describe('EventReader', () => {
  test('finds the same events, however the bytes are split', () => {
    fc.assert(
      fc.property(whole, fc.array(fc.nat(300), { maxLength: 8 }), fc.boolean(), (text, at, hasMark) => {
        const bytes = Buffer.from(hasMark ? `\ufeff${text}` : text);
        const once = read([bytes]);
        const cuts = [0, ...at.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        assert.deepEqual(read(cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end))), once);
        assert.deepEqual(read(Array.from(bytes, (byte) => Buffer.of(byte))), once);
      }),
      { numRuns: 500 },
    );
  });

  test('finds every text that was written as an event', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), fc.constantFrom('\n', '\r\n', '\r'), (texts, end) => {
        const clean = texts.map((text) => text.toWellFormed().replaceAll(/[\r\n]/g, ' '));
        const bytes = Buffer.from(clean.map((text) => `data: ${text}${end}${end}`).join(''));
        assert.deepEqual(read([bytes]), clean);
      }),
    );
  });

  test('an event that is named an error is one, whatever its data are', () => {
    const failures: [string, unknown][] = [
      ['{"message":"boom"}', { error: { message: 'boom' } }],
      ['{"error":{"message":"boom"}}', { error: { message: 'boom' } }],
      ['Internal Server Error', { error: 'Internal Server Error' }],
    ];
    for (const [data, error] of failures) {
      const [event = '', ...rest] = read([Buffer.from(`event: error\ndata: ${data}\n\ndata: a\n\n`)]);
      assert.deepEqual([JSON.parse(event), rest], [error, ['a']]);
    }
  });

  test('joins several lines of data, and closes the last event at the end', () => {
    assert.deepEqual(read([Buffer.from('data: a\ndata: b\n\nid: 3\ndata: c')]), ['a\nb', 'c']);
  });

  test('hands out what came before an event over the limit, and then throws, again and again', () => {
    const reader = new EventReader(100);
    assert.deepEqual(reader.push(Buffer.from(`data: a\n\ndata: ${'x'.repeat(200)}`)), ['a']);
    for (const again of [() => reader.push(Buffer.from('y')), () => reader.end()]) {
      assert.throws(again, { code: 'upstream_invalid' });
    }
  });

  test('counts lines without data, too', () => {
    for (const line of ['data:\n', 'data\n', 'id: 1\n', 'x: y\n', 'event: a\n']) {
      const reader = new EventReader(LIMIT);
      const bytes = Buffer.from(line.repeat(100));
      const feed = (): void => {
        for (let fed = 0; fed < 2 * LIMIT; fed += bytes.length) reader.push(bytes);
      };
      assert.throws(feed, { code: 'upstream_invalid' }, line);
    }
  });

  test('signs of life without end are no event', () => {
    const reader = new EventReader(LIMIT);
    for (let at = 0; at < LIMIT; at += 1) assert.deepEqual(reader.push(Buffer.from(': ping\n\n')), []);
    assert.deepEqual(reader.push(Buffer.from('data: a\n\n')), ['a']);
  });

  test('lines of no format are passed over beside events, and end a stream of nothing else', () => {
    const reader = new EventReader(LIMIT);
    for (let at = 0; at < 5_000; at += 1) assert.deepEqual(reader.push(Buffer.from('DEBUG\ndata: a\n\n')), ['a']);
    const endless = Buffer.from('DEBUG\n\n'.repeat(100));
    assert.throws(
      () => {
        for (let at = 0; at < 100; at += 1) reader.push(endless);
      },
      { code: 'upstream_invalid' },
    );
  });

  test('a line of the greatest length passes, in whatever pieces', () => {
    const text = 'x'.repeat(LIMIT - 10);
    const bytes = Buffer.from(`data: ${text}\n\n`);
    assert.deepEqual(read([bytes]), [text]);
    assert.deepEqual(read(Array.from({ length: 1_000 }, (_, at) => bytes.subarray(at * 10, (at + 1) * 10))), [text]);
  });
});

describe('looksLikeEvents', () => {
  for (const [bytes, expected] of [
    ['data: {}', true],
    [': ping', true],
    ['\ufeffdata: {}', true],
    ['\n\nevent: x', true],
    ['d', true],
    ['{"choices":[]}', false],
    ['  \n{', false],
    ['\ufeff{"choices"', false],
    ['[', false],
    ['<!DOCTYPE html>', false],
    ['', undefined],
    [' \r\n\t', undefined],
    ['\n'.repeat(100), undefined],
    [`${'\n'.repeat(100)}{"choices"`, false],
    [`${'\n'.repeat(100)}data: {}`, true],
  ] as const) {
    test(JSON.stringify(bytes), () => assert.equal(looksLikeEvents(Buffer.from(bytes)), expected));
  }
});
