import type { VendorAnswer } from './vendor-script.ts';

/** An answer, and the ear that it waits for. */
export interface Turns extends Pick<VendorAnswer, 'text' | 'afterPiece'> {
  /** To be told each piece of the text that the client got. */
  heard(piece: string): void;
}

/**
 * An answer that goes on only when the client has heard all that was said: what a busy machine reads at once would come
 * as one piece, however long the upstream had waited in between.
 */
export function inTurns(text: readonly string[]): Turns {
  let unheard = 0;
  let pieces = 0;
  let goOn: (() => void) | undefined;
  return {
    text,
    afterPiece() {
      unheard += text[pieces]?.length ?? 0;
      pieces += 1;
      const { promise, resolve } = Promise.withResolvers<void>();
      goOn = resolve;
      if (unheard <= 0) resolve();
      return promise;
    },
    heard(piece) {
      unheard -= piece.length;
      if (unheard <= 0) goOn?.();
    },
  };
}
