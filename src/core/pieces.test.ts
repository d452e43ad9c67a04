import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { detach, headOf, holds, join, joinOwn, sizeOf, tailOf, withoutTail } from './pieces.ts';

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

describe('memory that is given back', () => {
  const LARGE = 64 * 1024;

  test('is that of large pieces of their own, and with it all that looks at them', () => {
    const piece = Buffer.alloc(LARGE, 'a');
    const view = piece.subarray(100);
    detach([piece]);
    assert.deepEqual([piece.length, view.length, piece.buffer.byteLength], [0, 0, 0]);
  });

  test('is not what others use too, nor what is too small for the call', () => {
    const block = Buffer.alloc(2 * LARGE, 'b');
    const shared = Buffer.from(new SharedArrayBuffer(LARGE));
    const pieces = [block.subarray(0, LARGE), block.subarray(LARGE), Buffer.from('small'), shared, Buffer.alloc(100)];
    detach(pieces);
    assert.deepEqual(
      pieces.map(({ length }) => length),
      [LARGE, LARGE, 5, LARGE, 100],
    );
    assert.equal(block.indexOf('b', LARGE), LARGE);
  });

  test('joined, pieces are there once', () => {
    const pieces = [Buffer.alloc(LARGE, 'a'), Buffer.alloc(LARGE, 'b')];
    const whole = joinOwn(pieces);
    assert.deepEqual([whole.length, whole.indexOf('b'), sizeOf(pieces)], [2 * LARGE, LARGE, 0]);
    assert.equal(joinOwn([whole]), whole);
    assert.equal(whole.length, 2 * LARGE);
  });
});
