import type { EncodedFormat } from './encoders.ts';

/** One part of an utterance: words for the embedded voice, or sound that another voice made. */
export type SpeechPiece = Words | Sound;

/** For the embedded voice. */
export interface Words {
  readonly text: string;
  readonly voice: string;
  /** How much longer than usual it shall take. */
  readonly stretch: number;
}

/** Samples as another voice sent them. */
export interface Sound {
  /** 16 bits each, little-endian, mono. A view would be copied with all of its buffer. */
  readonly samples: Uint8Array;
  /** Samples a second. */
  readonly rate: number;
}

/** What the gateway asks of the thread that speaks. It does one thing at a time and answers each piece once. */
export type ToSpeaker =
  | {
      readonly type: 'piece';
      /** The speech it belongs to; the first piece of a speech opens its encoder. */
      readonly id: number;
      readonly piece: SpeechPiece;
      readonly format: EncodedFormat;
      /** The last piece closes the file, and the encoder. */
      readonly isLast: boolean;
    }
  /** Nobody wants the rest; not answered. */
  | { readonly type: 'close'; readonly id: number };

/** What it answers: bytes of the file as far as they are finished, or why there are none. */
export type FromSpeaker =
  | { readonly type: 'bytes'; readonly id: number; readonly bytes: Uint8Array }
  /** `reason` is for the log only. */
  | { readonly type: 'failed'; readonly id: number; readonly reason: string };
