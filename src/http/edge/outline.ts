import { isUtf8 } from 'node:buffer';
import type { Member } from '../../core/json.ts';
import { type Pieces, sizeOf } from '../../core/pieces.ts';
import { SCRATCH_BYTES, scratchForText, stringAt } from '../../core/plain-text.ts';

/** Up to this size a body is parsed as it is. */
const SMALL_BYTES = 32 * 1024;
/** What is kept of a text, in bytes: its beginning. A shorter one stays whole. */
const KEPT_BYTES = 1024;
/** In a body of more strings there is little that could be left out. */
const MOST_STRINGS = 20_000;

const QUOTE = 0x22;

/**
 * A JSON text in which only the beginnings of long strings are left: all that has to be known of a long prompt to pass it on. As a
 * value the whole of it would take as much memory again, and most of the time that such a request costs.
 */
export interface Outline {
  readonly json: Buffer;
  readonly cuts: readonly Cut[];
}

/** Where something is missing. */
export interface Cut {
  /** In the outline: what follows stands here. */
  readonly at: number;
  readonly bytes: number;
  /** It is what somebody says or is told: the value of a `content` or a `text`. */
  readonly isText: boolean;
}

/**
 * The outline of what a client has sent; undefined where parsing all of it is as well or has to find out what is wrong. If the outline
 * is JSON, so is the whole: in what is missing nothing stands that a string may not hold.
 */
export function outlineOf(pieces: Pieces): Outline | undefined {
  const size = sizeOf(pieces);
  if (size <= SMALL_BYTES || size > SCRATCH_BYTES) return undefined;
  const scratch = scratchForText();
  if (scratch === null) return undefined;
  let end = 0;
  for (const piece of pieces) end += piece.copy(scratch.bytes, end);
  const text = scratch.bytes.subarray(0, size);
  if (!isUtf8(text)) return undefined;
  const kept: Buffer[] = [];
  const cuts: Cut[] = [];
  let from = 0;
  let missing = 0;
  let strings = 0;
  for (let at = text.indexOf(QUOTE); at !== -1; at = text.indexOf(QUOTE, at + 1)) {
    strings += 1;
    if (strings > MOST_STRINGS) return undefined;
    const string = stringAt(scratch, at + 1, size, KEPT_BYTES);
    if (string === undefined) return undefined;
    const { end: quote, keptUntil } = string;
    if (keptUntil < quote) {
      kept.push(text.subarray(from, keptUntil));
      cuts.push({ at: keptUntil - missing, bytes: quote - keptUntil, isText: isSaid(text, at) });
      missing += quote - keptUntil;
      from = quote;
    }
    at = quote;
  }
  // Two passes over most of it would cost more than one over all of it.
  if (missing < size / 4) return undefined;
  kept.push(text.subarray(from));
  return { json: Buffer.concat(kept), cuts };
}

/** The members of an outline's object, where they stand in the whole; undefined if something is missing in another than `name`. */
export function placesInWhole(
  members: readonly Member[],
  cuts: readonly Cut[],
  name: string,
): readonly Member[] | undefined {
  const places: Member[] = [];
  let missing = 0;
  let next = 0;
  for (const member of members) {
    const start = member.start + missing;
    for (let cut = cuts[next]; cut !== undefined && cut.at < member.end; cut = cuts[next]) {
      if (member.name !== name) return undefined;
      missing += cut.bytes;
      next += 1;
    }
    places.push({ name: member.name, start, end: member.end + missing });
  }
  return places;
}

/** Whether the string whose opening quote stands at `at` is the value of a `content` or a `text`. */
function isSaid(text: Buffer, at: number): boolean {
  return /"(?:content|text)"\s*:\s*$/.test(text.toString('latin1', Math.max(0, at - 32), at));
}
