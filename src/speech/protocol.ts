import type { EncodedFormat } from './encoder.ts';

/** What the gateway asks of the thread that speaks. It does one thing at a time and answers each piece once. */
export type ToSpeaker =
  | {
      readonly type: 'piece';
      /** The speech it belongs to; the first piece of a speech opens its encoder. */
      readonly id: number;
      readonly text: string;
      readonly voice: string;
      /** How much longer than usual it shall take. */
      readonly stretch: number;
      readonly format: EncodedFormat;
      /** The last piece closes the file, and the encoder. */
      readonly isLast: boolean;
    }
  /** Nobody wants the rest; not answered. */
  | { readonly type: 'close'; readonly id: number };

export type FromSpeaker =
  | { readonly type: 'bytes'; readonly id: number; readonly bytes: Uint8Array }
  /** `reason` is for the log only. */
  | { readonly type: 'failed'; readonly id: number; readonly reason: string };
