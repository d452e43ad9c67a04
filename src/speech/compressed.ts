import type { SpeechEncoder } from './encoder.ts';

/** What both of wasm-media-encoders' encoders do. The bytes that they return are theirs until the next call. */
interface MediaEncoder {
  encode(samples: readonly Float32Array[]): Uint8Array;
  finalize(): Uint8Array;
}

/** Kilobits a second of MP3, constant: without a table in front, players know the length of such a file only. */
const MP3_BITRATE = 64;
/** Vorbis' scale from -1 to 10; speech is about 40 kbit/s with this. */
const OGG_QUALITY = 3;

/** MP3 (LAME). */
export async function createMp3(rate: number): Promise<SpeechEncoder> {
  const { createMp3Encoder } = await import('wasm-media-encoders');
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate: rate, channels: 1, bitrate: MP3_BITRATE });
  return fromMediaEncoder(encoder);
}

/** Ogg Vorbis. */
export async function createOgg(rate: number): Promise<SpeechEncoder> {
  const { createOggEncoder } = await import('wasm-media-encoders');
  const encoder = await createOggEncoder();
  encoder.configure({ sampleRate: rate, channels: 1, vbrQuality: OGG_QUALITY });
  return fromMediaEncoder(encoder);
}

function fromMediaEncoder(encoder: MediaEncoder): SpeechEncoder {
  return {
    encode(samples, isLast) {
      const begin = Buffer.from(encoder.encode([samples]));
      return isLast ? Buffer.concat([begin, encoder.finalize()]) : begin;
    },
    close() {},
  };
}
