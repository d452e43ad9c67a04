import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toSegments, toSrt, toVtt } from './timed-text.ts';
import type { TimedText } from './transcription.ts';

/** Words of half a second each, one after the other. */
function spoken(text: string, from = 0): TimedText[] {
  return text.split(' ').map((word, index) => ({ text: word, start: from + index / 2, end: from + index / 2 + 0.4 }));
}

describe('segments', () => {
  test('end with a sentence', () => {
    const segments = toSegments(spoken('Is it late? Yes. “Very late.” Good night'));
    assert.deepEqual(
      segments.map(({ text }) => text),
      ['Is it late?', 'Yes.', '“Very late.”', 'Good night'],
    );
    assert.deepEqual([segments[0]?.start, segments[0]?.end], [0, 1.4]);
  });

  test('end with the longest of their words', () => {
    const words = [
      { text: 'one', start: 0, end: 2 },
      { text: 'two', start: 1, end: 1.5 },
    ];
    assert.deepEqual(toSegments(words), [{ text: 'one two', start: 0, end: 2 }]);
  });

  test('end with a pause', () => {
    const words = [...spoken('one two'), ...spoken('three four', 10)];
    assert.deepEqual(
      toSegments(words).map(({ text }) => text),
      ['one two', 'three four'],
    );
  });

  test('are short enough to be read, and lose no word', () => {
    const words = spoken(Array.from({ length: 100 }, (_, index) => `word${index}`).join(' '));
    const segments = toSegments(words);
    for (const { text, start, end } of segments) assert.ok(text.length <= 84 && end - start <= 7);
    assert.equal(segments.map(({ text }) => text).join(' '), words.map(({ text }) => text).join(' '));
  });

  test('of nothing there are none', () => {
    assert.deepEqual(toSegments([]), []);
  });
});

describe('subtitles', () => {
  test('hours, rounding, and lines that would end them', () => {
    const segments = [{ text: ' a\n\n b ', start: 3_599.9996, end: 36_000.5 }];
    assert.equal(toSrt(segments), '1\n01:00:00,000 --> 10:00:00,500\na\nb\n\n');
  });

  test('nothing in WebVTT can pass for a tag or an arrow', () => {
    const text = '<b>5 --> 6 & more';
    assert.equal(
      toVtt([{ text, start: 0, end: 1 }]),
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n&lt;b&gt;5 --&gt; 6 &amp; more\n\n',
    );
  });

  test('without anything said', () => {
    assert.deepEqual([toSrt([]), toVtt([])], ['', 'WEBVTT\n\n']);
  });
});
