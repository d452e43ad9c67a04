import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import sharp from 'sharp';
import { DEFAULT_LIMITS } from './conversion.ts';
import { readImage } from './image.ts';

const read = (bytes: Uint8Array, limits = {}) => readImage(bytes, { ...DEFAULT_LIMITS, ...limits }, sharp);

/** Left half red, right half blue. */
const halves = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: 'blue' } }).composite([
    { input: { create: { width: width / 2, height, channels: 3, background: 'red' } }, gravity: 'west' },
  ]);

describe('images', () => {
  for (const format of ['png', 'jpeg', 'webp', 'gif'] as const) {
    test(`${format}: size and a small picture`, async () => {
      const { width, height, thumbnail } = await read(await halves(1_000, 500).toFormat(format).toBuffer());
      assert.deepEqual([width, height], [1_000, 500]);
      const small = await sharp(thumbnail.bytes).metadata();
      assert.deepEqual([small.format, small.width, small.height], ['webp', 400, 200]);
      assert.equal(thumbnail.mimeType, 'image/webp');
    });
  }

  test('a small image is not made larger', async () => {
    const { thumbnail } = await read(await halves(20, 10).png().toBuffer());
    const small = await sharp(thumbnail.bytes).metadata();
    assert.deepEqual([small.width, small.height], [20, 10]);
  });

  test('a photo that was taken sideways stands upright, and tells nothing else about itself', async () => {
    const bytes = await halves(800, 400)
      .jpeg()
      .withExif({ IFD0: { Copyright: 'Ada' }, IFD3: { GPSLatitude: '47/1 0/1 0/1' } })
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const { width, height, thumbnail } = await read(bytes);
    assert.deepEqual([width, height], [400, 800]);
    const small = await sharp(thumbnail.bytes).metadata();
    assert.deepEqual([small.width, small.height, small.orientation, small.exif], [200, 400, undefined, undefined]);
    // Turned clockwise, what was left is on top.
    const { data } = await sharp(thumbnail.bytes).raw().toBuffer({ resolveWithObject: true });
    assert.ok((data[0] ?? 0) > 200 && (data[2] ?? 0) < 60);
  });

  test('of an animation the first frame', async () => {
    const frames = ['red', 'blue'].map((background) =>
      sharp({ create: { width: 10, height: 20, channels: 3, background } })
        .png()
        .toBuffer(),
    );
    const bytes = await sharp(await Promise.all(frames), { join: { animated: true } })
      .gif()
      .toBuffer();
    assert.equal((await sharp(bytes).metadata()).pages, 2);
    const { width, height, thumbnail } = await read(bytes);
    assert.deepEqual([width, height], [10, 20]);
    assert.equal((await sharp(thumbnail.bytes).metadata()).height, 20);
  });

  test('more pixels than the limit', async () => {
    const bytes = await halves(100, 50).png().toBuffer();
    await assert.rejects(read(bytes, { pixels: 4_999 }), { name: 'OverLimit', message: /100 × 50 pixels/ });
    await read(bytes, { pixels: 5_000 });
  });

  test('what breaks off', async () => {
    const bytes = await halves(1_000, 1_000).jpeg().toBuffer();
    const damaged = { name: 'Refusal', message: 'is a damaged image' };
    await assert.rejects(read(bytes.subarray(0, bytes.length / 2)), damaged);
    await assert.rejects(read(bytes.subarray(0, 10)), damaged);
    await assert.rejects(read(Buffer.from('\x89PNG\r\n\x1a\nnonsense', 'latin1')), damaged);
  });
});
