import type { Member } from '../../core/json.ts';
import { join, type Pieces } from '../../core/pieces.ts';
import type { JsonBody, OutlinedChat } from './json-body.ts';
import { outlineOf, placesInWhole } from './outline.ts';

type Parse = (bytes: Buffer) => JsonBody;

/** Reads the outline of a chat. Undefined where all of it has to be read, be it to find out what is wrong. */
export function readLongChat(pieces: Pieces, parse: Parse): JsonBody | undefined {
  const outline = outlineOf(pieces);
  if (outline === undefined) return undefined;
  let read: JsonBody;
  try {
    read = parse(outline.json);
  } catch {
    return undefined;
  }
  const members = placesInWhole(read.members, outline.cuts, 'messages');
  if (members === undefined) return undefined;
  let missingBytes = 0;
  for (const { isText, bytes } of outline.cuts) if (isText) missingBytes += bytes;
  return new LongChat({ pieces, value: read.value, members, missingBytes }, parse);
}

/** A chat of which the outline was read; the whole of it is when somebody asks. */
class LongChat implements JsonBody {
  readonly outlined: OutlinedChat;
  readonly #parse: Parse;
  #whole: JsonBody | undefined;

  constructor(outlined: OutlinedChat, parse: Parse) {
    this.outlined = outlined;
    this.#parse = parse;
  }

  get bytes(): Buffer {
    return this.#read().bytes;
  }

  get value(): Record<string, unknown> {
    return this.#read().value;
  }

  get members(): readonly Member[] {
    return this.#read().members;
  }

  get held(): Pieces {
    return [...this.outlined.pieces, ...(this.#whole?.held ?? [])];
  }

  #read(): JsonBody {
    this.#whole ??= this.#parse(join(this.outlined.pieces));
    return this.#whole;
  }
}
