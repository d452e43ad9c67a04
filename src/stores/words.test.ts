import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { goesOn, searchTerms, spaced } from './words.ts';

describe('words of a question', () => {
  test('are letters and digits, each once, in their order', () => {
    assert.deepEqual(searchTerms('What does "O’Neil" (2nd) like? what: like!'), [
      'What',
      'does',
      'O',
      'Neil',
      '2nd',
      'like',
      'what',
    ]);
    assert.deepEqual(searchTerms('e\u0301te\u0301 \u0301 naïve'), ['e\u0301te\u0301', 'naïve']);
    assert.deepEqual(searchTerms('"*" AND (^ OR -)'), ['AND', 'OR']);
    assert.deepEqual(searchTerms('\0 % _ \ud800'), []);
  });

  test('are at most so many, however long the question', () => {
    assert.equal(searchTerms(Array.from({ length: 10_000 }, (_, n) => `w${n}`).join(' ')).length, 32);
  });

  test('of scripts without blanks are characters', () => {
    assert.equal(spaced('ab日本c'), 'ab 日  本 c');
  });

  test('may go on from three letters on', () => {
    assert.equal(goesOn(['go', 'pro']), true);
    assert.equal(goesOn(['programming', 'in']), false);
    assert.equal(goesOn([]), false);
  });

  test('may go on in Korean, wherever they stand', () => {
    const terms = ['서울', '더', 'Seoul', '날씨'];
    assert.deepEqual(
      terms.map((_, at) => goesOn(terms, at)),
      [true, false, false, true],
    );
  });
});
