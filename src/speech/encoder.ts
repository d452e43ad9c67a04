/** Turns samples (mono, -1 to 1) into the bytes of one audio file, piece by piece. */
export interface SpeechEncoder {
  /** What can be written after these samples; with `isLast` also what closes the file. May be empty. */
  encode(samples: Float32Array, isLast: boolean): Uint8Array;
  /** Gives back what it holds outside of the garbage collector's reach. */
  close(): void;
}
