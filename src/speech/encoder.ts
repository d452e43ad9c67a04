import type { SpeechFormat } from '../core/speech.ts';
import { createMp3, createOgg } from './compressed.ts';
import { createOpus } from './opus.ts';
import { createPcm, createWav } from './plain.ts';

/** Turns samples (mono, -1 to 1) into the bytes of one audio file, piece by piece. */
export interface SpeechEncoder {
  /** What can be written after these samples; with `isLast` also what closes the file. May be empty. */
  encode(samples: Float32Array, isLast: boolean): Uint8Array;
  /** Gives back what it holds outside of the garbage collector's reach. */
  close(): void;
}

/** By format: opens an encoder for so many samples a second. The libraries behind them load on first use. */
export const encoders = {
  mp3: createMp3,
  ogg: createOgg,
  opus: createOpus,
  wav: createWav,
  pcm: createPcm,
} as const satisfies Partial<Record<SpeechFormat, (rate: number) => Promise<SpeechEncoder>>>;

/** A format that is made here. */
export type EncodedFormat = keyof typeof encoders;
