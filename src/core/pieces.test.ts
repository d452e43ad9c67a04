import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { headOf, holds, join, sizeOf, tailOf, withoutTail } from './pieces.ts';

/** Few letters, so that what is looked for comes up, and any split, with empty pieces. */
const split = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '_'), maxLength: 6 }), { maxLength: 8 });

describe('pieces are treated like the whole', () => {
  test('sizes, both ends', () => {
    fc.assert(
      fc.property(split, fc.integer({ min: 1, max: 20 }), (texts, count) => {
        const pieces = texts.map((text) => Buffer.from(text));
        const whole = Buffer.from(texts.join(''));
        assert.equal(sizeOf(pieces), whole.length);
        assert.deepEqual(Buffer.from(join(pieces)), whole);
        assert.deepEqual(Buffer.from(headOf(pieces, count)), whole.subarray(0, count));
        assert.deepEqual(Buffer.from(tailOf(pieces, count)), whole.subarray(-count));
        assert.deepEqual(
          Buffer.concat(withoutTail(pieces, count)),
          whole.subarray(0, Math.max(0, whole.length - count)),
        );
      }),
    );
  });

  test('what they hold, also across several of them', () => {
    fc.assert(
      fc.property(
        split,
        fc.string({ unit: fc.constantFrom('a', 'b', '_'), minLength: 2, maxLength: 5 }),
        (texts, text) => {
          const pieces = texts.map((each) => Buffer.from(each));
          assert.equal(holds(pieces, text), texts.join('').includes(text));
        },
      ),
    );
  });
});
