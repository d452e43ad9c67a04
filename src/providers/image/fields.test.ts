import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testCall } from '../../../test/support/call.ts';
import type { ImageRequest } from '../../core/image.ts';
import { aspectRatioOf, furtherFields, ratioOf, sizeFor } from './fields.ts';

const request = (fields: Partial<ImageRequest>): ImageRequest => ({
  task: 'generate',
  prompt: 'x',
  model: 'm',
  n: 1,
  images: [],
  fields: {},
  ...fields,
});

describe('measures of a picture', () => {
  for (const [width, height, ratio] of [
    [1024, 1024, '1:1'],
    [1344, 768, undefined],
    [1360, 768, '16:9'],
    [768, 1360, '9:16'],
    [1536, 1024, '3:2'],
    [1000, 17, undefined],
  ] as const) {
    test(`${width}x${height}: ${ratio ?? 'no ratio with a name'}`, () => {
      assert.equal(ratioOf({ width, height }), ratio);
    });
  }

  test('a size wins over a ratio; what has no place is reported', () => {
    const call = testCall();
    assert.equal(aspectRatioOf(request({ size: { width: 512, height: 512 }, aspectRatio: '16:9' }), call), '1:1');
    assert.equal(aspectRatioOf(request({ aspectRatio: '7:5' }), call), '7:5');
    assert.deepEqual([...call.dropped], []);
    assert.equal(aspectRatioOf(request({ aspectRatio: '7:5' }), call, ['1:1']), undefined);
    assert.equal(aspectRatioOf(request({ size: { width: 1000, height: 17 } }), call), undefined);
    assert.deepEqual([...call.dropped], ['aspect_ratio', 'size']);
  });

  test('pixels for a ratio: about as many as wanted, in steps of a model', () => {
    for (const aspectRatio of ['1:1', '16:9', '9:16', '21:9', '0:0', '1:999']) {
      const { width, height } = sizeFor(request({ aspectRatio }), 1024 * 1024);
      assert.deepEqual([width % 64, height % 64], [0, 0]);
      assert.ok(width > 0 && height > 0);
    }
    assert.deepEqual(sizeFor(request({ size: { width: 5, height: 7 } }), 100), { width: 5, height: 7 });
  });
});

test('further fields: those that are taken, the others are reported, empty ones are nothing', () => {
  const fields = { prompt: 'x', seed: 7, loras: [1], quality: 'high', style: null };
  const call = testCall();
  assert.deepEqual(furtherFields(request({ fields }), call, ['loras']), { loras: [1] });
  assert.deepEqual([...call.dropped], ['quality']);
  assert.deepEqual(furtherFields(request({ fields }), testCall(), 'all'), { loras: [1], quality: 'high' });
});
