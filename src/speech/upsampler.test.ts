import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Upsampler } from './upsampler.ts';

const RATE = 16_000;

function tone(hertz: number, count: number, rate: number): Float32Array {
  return Float32Array.from({ length: count }, (_, index) => 0.5 * Math.sin((2 * Math.PI * hertz * index) / rate));
}

function inPieces(up: number, down: number, samples: Float32Array, sizes: readonly number[]): number[] {
  const upsampler = new Upsampler(up, down);
  const output: number[] = [];
  let at = 0;
  for (let index = 0; at < samples.length; index += 1) {
    const next = Math.min(samples.length, at + (sizes[index % sizes.length] ?? 1));
    output.push(...upsampler.push(samples.subarray(at, next), next === samples.length));
    at = next;
  }
  return output;
}

describe('raising the rate', () => {
  for (const [name, up, down] of [
    ['to 24,000', 3, 2],
    ['to 48,000', 3, 1],
  ] as const) {
    test(`${name}: a tone stays that tone, at its place`, () => {
      const output = inPieces(up, down, tone(1_000, 1_600, RATE), [1_600]);
      assert.equal(output.length, (1_600 * up) / down);
      const expected = tone(1_000, output.length, (RATE * up) / down);
      // At the very ends the silence outside has its say.
      for (let index = 100; index < output.length - 100; index += 1) {
        assert.ok(Math.abs((output[index] ?? 0) - (expected[index] ?? 0)) < 0.005, `sample ${index}`);
      }
    });

    test(`${name}: pieces leave no seam`, () => {
      const samples = tone(700, 3_001, RATE);
      const whole = inPieces(up, down, samples, [3_001]);
      assert.deepEqual(inPieces(up, down, samples, [1, 7, 640, 3]), whole);
      assert.deepEqual(inPieces(up, down, samples, [2_990, 11]), whole);
    });
  }

  test('nothing but the end gives nothing', () => {
    assert.equal(new Upsampler(3, 1).push(new Float32Array(), true).length, 0);
  });
});
