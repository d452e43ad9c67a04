import type { SpeechEncoder } from './encoder.ts';
import { Upsampler } from './upsampler.ts';

/** Samples a second of raw samples: they carry no rate, and clients of OpenAI's interface take them for this one. */
const PCM_RATE = 24_000;
/** Stands for a length that is not known yet, as in files that other programs stream. */
const UNKNOWN = 0xffff_ffff;
const HEADER_BYTES = 44;

/** WAV with 16 bits a sample. Its header tells the length only when the first samples are the last ones as well. */
export async function createWav(rate: number): Promise<SpeechEncoder> {
  let isBegun = false;
  return {
    encode(samples, isLast) {
      const body = toBytes(samples);
      if (isBegun) return body;
      isBegun = true;
      return Buffer.concat([wavHeader(rate, isLast ? body.length : undefined), body]);
    },
    close() {},
  };
}

/** Raw samples: 16 bits, little-endian, 24,000 a second. */
export async function createPcm(rate: number): Promise<SpeechEncoder> {
  const [up, down] = ratio(PCM_RATE, rate);
  const upsampler = new Upsampler(up, down);
  return { encode: (samples, isLast) => toBytes(upsampler.push(samples, isLast)), close() {} };
}

function wavHeader(rate: number, size: number | undefined): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(size === undefined ? UNKNOWN : size + HEADER_BYTES - 8, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // linear PCM
  header.writeUInt16LE(1, 22); // one channel
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(size ?? UNKNOWN, 40);
  return header;
}

function toBytes(samples: Float32Array): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (let index = 0; index < samples.length; index += 1) {
    const value = Math.round((samples[index] ?? 0) * 32_768);
    bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, value)), 2 * index);
  }
  return bytes;
}

/** Raw samples, 16 bits each and little-endian → from -1 to 1. Half a sample at the end is left out. */
export function fromBytes(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: bytes.byteLength >> 1 }, (_, index) => view.getInt16(2 * index, true) / 32_768);
}

/** Two rates as a fraction in lowest terms. */
export function ratio(to: number, from: number): [up: number, down: number] {
  let [a, b] = [to, from];
  while (b !== 0) [a, b] = [b, a % b];
  return [to / a, from / a];
}
