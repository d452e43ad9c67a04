import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { StopWords } from './stop-words.ts';

describe('stop words', () => {
  test('cut the text before the first word', () => {
    const stop = new StopWords(['END', 'two']);
    assert.equal(stop.push('one E'), 'one ');
    assert.equal(stop.push('ND two'), '');
    assert.equal(stop.found, true);
    assert.equal(stop.push('three'), '');
    assert.equal(stop.flush(), '');
  });

  test('let through what only looked like one', () => {
    const stop = new StopWords(['</answer>']);
    assert.equal(stop.push('a </ans'), 'a ');
    assert.equal(stop.push('wers> b <'), '</answers> b ');
    assert.equal(stop.flush(), '<');
    assert.equal(stop.found, false);
  });

  test('an empty word stops nothing', () => {
    const stop = new StopWords(['']);
    assert.equal(stop.push('text'), 'text');
    assert.equal(stop.found, false);
  });

  test('any split of a text gives the same as the text in one piece', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(letters), fc.array(letters, { maxLength: 3 }), (pieces, words) => {
        assert.equal(cut(pieces, words), cut([pieces.join('')], words));
      }),
      { numRuns: 2_000 },
    );
  });

  test('with one word, the text ends where that word begins', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(letters, letters, (text, word) => {
        const place = text.indexOf(word);
        assert.equal(cut([...text], [word]), place === -1 ? text : text.slice(0, place));
      }),
      { numRuns: 2_000 },
    );
  });
});

function cut(pieces: readonly string[], words: readonly string[]): string {
  const stop = new StopWords(words);
  return pieces.map((piece) => stop.push(piece)).join('') + stop.flush();
}
