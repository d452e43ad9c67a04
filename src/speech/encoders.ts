import type { SpeechFormat } from '../core/speech.ts';
import { createMp3, createOgg } from './compressed.ts';
import type { SpeechEncoder } from './encoder.ts';
import { createOpus } from './opus.ts';
import { createPcm, createWav } from './plain.ts';

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
