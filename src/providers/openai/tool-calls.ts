import { isWholeJson, MOST_CALLS, tooManyCalls } from '../../core/call-pieces.ts';
import type { ToolCallDelta } from '../../core/chunk.ts';
import { isObject, membersOf } from '../../core/objects.ts';
import { toolCallId } from './ids.ts';

/** Units of arguments that are kept to see whether they are whole. */
const MOST_KEPT = 1024 * 1024;

/**
 * The tool calls of one answer, as they come in pieces. The wire format tells them apart by `index`; some upstreams leave
 * it out, or give every call the same one (Gemini's compatible interface did both), and then a name with a new id begins
 * the next call. Calls without an id get one.
 */
export class ToolCalls {
  /** Where in the answer the calls stand → their ids. */
  readonly #ids = new Map<number, string>();
  /** The upstream's index → where the call that it means now stands. */
  readonly #places = new Map<number, number>();
  #latest: number | undefined;
  /** The last place that is taken. */
  #last = -1;
  /** By their places, the arguments so far; undefined once there are too many of them. */
  #written: Map<number, string> | undefined = new Map();
  #kept = 0;

  /** Whether there was any. */
  get any(): boolean {
    return this.#ids.size > 0;
  }

  /** Whether one of them stops in the middle of its arguments. Of some tools models write none at all. */
  get isCut(): boolean {
    for (const text of this.#written?.values() ?? []) if (text.trim() !== '' && !isWholeJson(text)) return true;
    return false;
  }

  /** The pieces of one `tool_calls`, whatever stands in it. Throws once they are of too many calls. */
  read(entries: readonly unknown[]): ToolCallDelta[] {
    return entries.flatMap((entry) => {
      if (!isObject(entry)) return [];
      const { index, id, function: called, custom, extra_content: extra } = entry;
      // A freeform tool of OpenAI's takes any text.
      const { name, arguments: written = membersOf(custom)['input'] } = membersOf(called ?? custom);
      const named = typeof name === 'string' && name !== '' ? { name } : {};
      const placed = this.#place(
        Number.isInteger(index) ? Number(index) : undefined,
        typeof id === 'string' && id !== '' ? id : undefined,
        'name' in named,
      );
      // Some local servers write the arguments as an object.
      const text = typeof written === 'string' ? written : written == null ? '' : JSON.stringify(written);
      if (called !== undefined) this.#keep(placed.index, text);
      return [{ ...placed, ...named, arguments: text, ...signature(extra) }];
    });
  }

  #keep(place: number, text: string): void {
    if (this.#written === undefined || text === '') return;
    this.#kept += text.length;
    if (this.#kept > MOST_KEPT) this.#written = undefined;
    else this.#written.set(place, (this.#written.get(place) ?? '') + text);
  }

  #place(index: number | undefined, id: string | undefined, isNamed: boolean): { index: number; id?: string } {
    const known = index === undefined ? this.#latest : this.#places.get(index);
    if (known !== undefined) {
      const own = this.#ids.get(known);
      const isNext = isNamed && (id === undefined ? index === undefined : id !== own);
      if (!isNext) {
        this.#latest = known;
        return { index: known, ...(id === undefined || own === undefined ? {} : { id: own }) };
      }
    }
    if (this.#ids.size >= MOST_CALLS) throw tooManyCalls();
    const place = index === undefined || this.#ids.has(index) ? this.#last + 1 : index;
    const own = id ?? toolCallId();
    this.#ids.set(place, own);
    this.#last = Math.max(this.#last, place);
    if (index !== undefined) this.#places.set(index, place);
    this.#latest = place;
    return { index: place, id: own };
  }
}

/** Gemini's signature of a call, as its compatible interface spells it. */
function signature(extra: unknown): Pick<ToolCallDelta, 'vendor'> {
  const signed = (extra as { google?: { thought_signature?: unknown } } | undefined)?.google?.thought_signature;
  return typeof signed === 'string' ? { vendor: { google: { thoughtSignature: signed } } } : {};
}
