import type { Member } from '../../core/json.ts';
import type { Pieces } from '../../core/pieces.ts';

/** A JSON body: as bytes, as value, and where its members stand. */
export interface JsonBody {
  readonly bytes: Buffer;
  readonly value: Record<string, unknown>;
  readonly members: readonly Member[];
  /** All memory that its bytes take: `detach` gives it back, when nobody looks at these any more. */
  readonly held: Pieces;
  /** All that has to be known of a long chat to pass it on, where its route can do with that. */
  readonly outlined?: OutlinedChat;
}

/** A chat with the beginnings of its long texts. Something is missing in its `messages` only. */
export interface OutlinedChat {
  readonly pieces: Pieces;
  readonly value: Record<string, unknown>;
  /** Where they stand in the pieces. */
  readonly members: readonly Member[];
  /** Bytes that are missing of what is said. */
  readonly missingBytes: number;
}
