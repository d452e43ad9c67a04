import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { audioFacts } from '../../test/support/audio.ts';
import { type EncodedFormat, encoders } from './encoders.ts';

const RATE = 16_000;
const SECONDS = 3;

/** Something like speech: a tone that swells and fades. */
const sound = Float32Array.from(
  { length: SECONDS * RATE },
  (_, index) => 0.4 * Math.sin(index / 9) * Math.abs(Math.sin(index / 4_000)),
);

async function encode(format: EncodedFormat, pieces: readonly Float32Array[]): Promise<Buffer[]> {
  const encoder = await encoders[format](RATE);
  const written = pieces.map((piece, index) => Buffer.from(encoder.encode(piece, index === pieces.length - 1)));
  encoder.close();
  return written;
}

const thirds = [sound.subarray(0, RATE), sound.subarray(RATE, 2 * RATE), sound.subarray(2 * RATE)];

describe('encoders', () => {
  for (const [format, expected, tolerance] of [
    ['wav', { format: 'wav', rate: 16_000 }, 0],
    ['mp3', { format: 'mp3', rate: 16_000 }, 0.15], // whole frames, and the delay of the encoder
    ['ogg', { format: 'vorbis', rate: 16_000 }, 0.01],
    ['opus', { format: 'opus', rate: 48_000 }, 0.045], // two packets of 20 ms at the end
  ] as const) {
    test(`${format}: a sound file of the right length, whole and in pieces`, async () => {
      for (const pieces of [[sound], thirds]) {
        const facts = audioFacts(Buffer.concat(await encode(format, pieces)));
        assert.deepEqual({ format: facts.format, rate: facts.rate }, expected);
        assert.ok(facts.seconds >= SECONDS && facts.seconds <= SECONDS + tolerance, `${facts.seconds} s`);
      }
    });

    test(`${format}: bytes go out before the last piece`, async () => {
      const [first, second, last] = (await encode(format, thirds)).map(({ length }) => length);
      // A page of Vorbis holds about two seconds, so not every piece fills one.
      assert.ok((first ?? 0) + (second ?? 0) > (last ?? 0), `${first}, ${second}, ${last}`);
    });
  }

  test('wav: the header tells the length only when it is known', async () => {
    const whole = Buffer.concat(await encode('wav', [sound]));
    assert.equal(whole.readUInt32LE(40), sound.length * 2);
    const streamed = Buffer.concat(await encode('wav', thirds));
    assert.equal(streamed.readUInt32LE(40), 0xffff_ffff);
    assert.deepEqual(streamed.subarray(44), whole.subarray(44));
    assert.equal(whole.readInt16LE(44 + 2 * 5_000), Math.round((sound[5_000] ?? 0) * 32_768));
  });

  test('wav: what is too loud is cut, not turned over', async () => {
    const bytes = Buffer.concat(await encode('wav', [Float32Array.of(1.5, -1.5, 1, -1)]));
    const values = [0, 1, 2, 3].map((index) => bytes.readInt16LE(44 + 2 * index));
    assert.deepEqual(values, [32_767, -32_768, 32_767, -32_768]);
  });

  test('pcm: 24,000 samples a second without any header', async () => {
    assert.equal(Buffer.concat(await encode('pcm', thirds)).length, SECONDS * 24_000 * 2);
  });

  test('opus: whatever the length, no packet is empty', async () => {
    for (const length of [1, 319, 320, 321, 640, 1_600]) {
      const facts = audioFacts(Buffer.concat(await encode('opus', [sound.subarray(0, length)])));
      assert.ok(facts.seconds >= length / RATE && facts.seconds < length / RATE + 0.045, `${length}: ${facts.seconds}`);
    }
  });

  test('opus: many at the same time do not disturb each other', async () => {
    const all = await Promise.all(Array.from({ length: 40 }, () => encoders.opus(RATE)));
    const files = all.map(() => [] as Uint8Array[]);
    for (const [index, piece] of thirds.entries()) {
      for (const [which, encoder] of all.entries()) files[which]?.push(encoder.encode(piece, index === 2));
    }
    for (const encoder of all) encoder.close();
    for (const file of files) assert.ok(audioFacts(Buffer.concat(file)).seconds >= SECONDS);
  });

  test('no sound at all is still a file', async () => {
    for (const format of ['wav', 'ogg', 'opus'] as const) {
      assert.ok(audioFacts(Buffer.concat(await encode(format, [new Float32Array()]))).seconds < 0.1, format);
    }
  });
});
