import type { SpeechEncoder } from './encoder.ts';
import { ratio } from './plain.ts';
import { Upsampler } from './upsampler.ts';

/** Opus' own rate; the library would resample with a seam at every piece. */
const RATE = 48_000;
const BITRATE = 32;
/** Samples of one packet: 20 ms. */
const FRAME = 960;
/**
 * The library's header tells players to skip 3,840 samples, while libopus is 312 late: what lies between would be cut
 * off the first word, so silence goes there.
 */
const LEAD = 3_840 - 312;
/** Samples that are encoded at once: the library copies all that wait for every packet. */
const SLICE = 5 * FRAME;

/** Ogg Opus (RFC 7845). */
export async function createOpus(rate: number): Promise<SpeechEncoder> {
  const { default: openOpus } = await import('@audio/encode-opus');
  const encoder = await openOpus({ sampleRate: RATE, channels: 1, bitrate: BITRATE, application: 'voip' });
  const upsampler = new Upsampler(...ratio(RATE, rate));
  let count = 0;

  function* encoded(samples: Float32Array): Generator<Uint8Array> {
    count += samples.length;
    for (let from = 0; from < samples.length; from += SLICE) {
      yield encoder.encode([samples.subarray(from, from + SLICE)]);
    }
  }

  return {
    encode(samples, isLast) {
      const pages: Uint8Array[] = [];
      if (count === 0) pages.push(...encoded(new Float32Array(LEAD)));
      pages.push(...encoded(upsampler.push(samples, isLast)));
      if (isLast) {
        // The last samples are still inside libopus; and with nothing left over the library ends on an empty packet,
        // which is none.
        const left = (count + FRAME) % FRAME;
        pages.push(...encoded(new Float32Array(FRAME + (left === 0 ? 1 : 0))));
        pages.push(encoder.flush());
      }
      return Buffer.concat(pages);
    },
    close: () => encoder.free(),
  };
}
