import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toBase64, toNumbers, vectorJson } from './vectors.ts';

/** Any 32 bit float but the infinite ones and those that are none. */
function floats(count: number, seed: number): number[] {
  const buffer = Buffer.alloc(4);
  const found: number[] = [];
  for (let state = seed; found.length < count; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    buffer.writeUInt32LE(state);
    const value = buffer.readFloatLE();
    if (Number.isFinite(value)) found.push(value);
  }
  return found;
}

function bytesOf(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes;
}

describe('vectors', () => {
  test('base64 → numbers → JSON → numbers → base64 loses no bit', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const values = [...floats(seed % 13, seed), -0, 0, 2 ** -149, -(2 ** -149), 3.4028234663852886e38];
      const sent = bytesOf(values).toString('base64');
      const numbers = JSON.parse(vectorJson(sent, 'float')) as number[];
      assert.equal(toBase64(numbers), sent);
      assert.ok(numbers.every((value, index) => Object.is(value, values[index])));
    }
  });

  test('numbers of twice the precision become the nearest floats', () => {
    assert.deepEqual(toNumbers(toBase64([0.1, 1 / 3])), [Math.fround(0.1), Math.fround(1 / 3)]);
  });

  test('numbers stay as they are', () => {
    assert.equal(vectorJson([0.1, -0, 1e-7, 123456789.125], 'float'), '[0.1,-0,1e-7,123456789.125]');
    assert.equal(vectorJson([], 'float'), '[]');
  });

  for (const [name, vector] of [
    ['half a float', 'AAAA'],
    ['no base64', '****'],
    ['an infinite float', bytesOf([Number.POSITIVE_INFINITY]).toString('base64')],
    ['what is no number', bytesOf([Number.NaN]).toString('base64')],
  ] as const) {
    test(`${name} is refused`, () => {
      assert.throws(() => vectorJson(vector, 'float'), { code: 'upstream_invalid' });
    });
  }

  test('too large a number is refused', () => {
    assert.throws(() => toBase64([1e300]), { code: 'upstream_invalid' });
  });
});
