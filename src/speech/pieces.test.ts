import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toPieces } from './pieces.ts';

const sentence = 'The quick brown fox jumps over the lazy dog and runs away.';

describe('pieces', () => {
  test('short sentences stay together, a long text is split between sentences', () => {
    assert.deepEqual(toPieces('One. Two! Three?'), ['One. Two! Three?']);
    const pieces = toPieces(Array.from({ length: 12 }, () => sentence).join(' '));
    assert.ok(pieces.length > 2);
    for (const piece of pieces) assert.match(piece, /^The .* away\.$/);
  });

  test('the first piece is the shortest, so that something is heard soon', () => {
    const [first = '', second = ''] = toPieces(Array.from({ length: 12 }, () => sentence).join(' '));
    assert.ok(first.length <= 120 && second.length > first.length && second.length <= 240);
  });

  test('abbreviations end no sentence', () => {
    const before = `${sentence} Many of us have seen it in the garden.`;
    const asked = 'Ask Dr. Smith, of St. Ives.';
    // Up to the first of them it has room in the first piece.
    assert.deepEqual(toPieces(`${before} ${asked} ${sentence}`), [before, `${asked} ${sentence}`]);
  });

  test('a heading becomes a sentence', () => {
    assert.deepEqual(toPieces('A title\nAnd a text'), ['A title. And a text']);
  });

  for (const [name, text] of [
    ['no sentence', 'word '.repeat(2_000)],
    ['no space', 'x'.repeat(10_000)],
    ['no end of abbreviations', 'A. '.repeat(3_300)],
    ['only commas', 'one, '.repeat(2_000)],
    ['many lines', 'line\n'.repeat(2_000)],
  ] as const) {
    test(`${name}: no piece is long, nothing is lost`, () => {
      const pieces = toPieces(text.trim());
      for (const piece of pieces) assert.ok(piece.length <= 241, `${piece.length}`);
      const letters = (from: string) => from.replace(/[^A-Za-z0-9,]/g, '');
      assert.equal(letters(pieces.join('')), letters(text));
    });
  }

  test('pieces without a word are left out', () => {
    assert.deepEqual(toPieces('?! , .'), []);
    assert.deepEqual(toPieces(''), []);
  });
});
