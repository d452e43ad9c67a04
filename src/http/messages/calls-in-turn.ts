import { isWholeJson } from '../../core/call-pieces.ts';
import type { Batch, Chunk, ToolCallDelta } from '../../core/chunk.ts';

/** How often the arguments of one call are read to see whether they are whole. Later they are taken to be so at the end. */
const MOST_LOOKS = 32;

type Growing = { -readonly [Name in keyof ToolCallDelta]: ToolCallDelta[Name] };

/**
 * Brings the calls of an answer one after the other: Anthropic's blocks never mix, while other upstreams announce all calls
 * before the first argument, or mix their pieces. Until a call is over, whatever would need a block of its own is held back.
 */
export class CallsInTurn {
  /** The call whose pieces go on as they come. */
  #current: number | undefined;
  #json = '';
  #looks = 0;
  /** Whether the latest piece of it may have been the last. */
  #isClosed = false;
  readonly #begun = new Set<number>();
  /** What waits for it to be over: calls as far as they have come, and other chunks. */
  #held: (Growing | Chunk)[] = [];
  /** How many of these have gone on. */
  #gone = 0;
  readonly #waiting = new Map<number, Growing>();

  order(batch: Batch): Batch {
    if (this.#current === undefined && !batch.some(({ type }) => type === 'tool_call')) return batch;
    const out: Chunk[] = [];
    for (const chunk of batch) this.#one(chunk, out);
    return out;
  }

  #one(chunk: Chunk, out: Chunk[]): void {
    switch (chunk.type) {
      case 'tool_call':
        this.#call(chunk.tool_call, out);
        break;
      case 'content':
      case 'reasoning':
      case 'refusal':
      case 'source':
      case 'media':
        if (this.#isFree(out)) out.push(chunk);
        else this.#held.push(chunk);
        break;
      case 'finish':
      case 'error':
      case 'auth':
        for (; this.#current !== undefined; this.#goOn(out)) this.#current = undefined;
        out.push(chunk);
        break;
      default:
        out.push(chunk);
    }
  }

  #call(call: ToolCallDelta, out: Chunk[]): void {
    const waiting = this.#waiting.get(call.index);
    if (call.index === this.#current) this.#grow(call, out);
    else if (waiting !== undefined) {
      waiting.arguments += call.arguments;
      if (call.vendor !== undefined) waiting.vendor ??= call.vendor;
      this.#isFree(out);
    } else if (this.#isFree(out)) this.#begin(call, out);
    else if (this.#begun.has(call.index)) this.#held.push({ type: 'tool_call', tool_call: call });
    else {
      const held = { ...call };
      this.#waiting.set(call.index, held);
      this.#held.push(held);
    }
  }

  #begin(call: ToolCallDelta, out: Chunk[]): void {
    const { index, vendor } = call;
    if (this.#begun.has(index)) {
      // Arguments that are whole do not grow.
      if (vendor !== undefined) out.push({ type: 'tool_call', tool_call: { index, arguments: '', vendor } });
      return;
    }
    this.#begun.add(index);
    this.#current = index;
    this.#json = '';
    this.#isClosed = false;
    this.#looks = MOST_LOOKS;
    this.#note(call.arguments);
    out.push({ type: 'tool_call', tool_call: call });
  }

  #grow({ vendor, ...call }: ToolCallDelta, out: Chunk[]): void {
    this.#note(call.arguments);
    const isSealed = vendor !== undefined && this.#isWhole();
    out.push({ type: 'tool_call', tool_call: isSealed ? { ...call, vendor } : call });
    // What a vendor attaches to a call takes a block of its own.
    if (vendor !== undefined && !isSealed) {
      this.#held.push({ type: 'tool_call', tool_call: { index: call.index, arguments: '', vendor } });
    }
  }

  #note(piece: string): void {
    if (piece === '') return;
    this.#json += piece;
    this.#isClosed = piece.trimEnd().endsWith('}');
  }

  #isWhole(): boolean {
    if (!this.#isClosed || this.#looks === 0) return false;
    this.#looks -= 1;
    return isWholeJson(this.#json);
  }

  /** Whether no call is under way. One that turns out to be over makes room for what waits. */
  #isFree(out: Chunk[]): boolean {
    while (this.#current !== undefined) {
      if (!this.#isWhole()) return false;
      this.#current = undefined;
      this.#goOn(out);
    }
    return true;
  }

  /** Lets go on what waits, up to the next call. */
  #goOn(out: Chunk[]): void {
    while (this.#current === undefined) {
      const next = this.#held[this.#gone];
      if (next === undefined) {
        this.#held = [];
        this.#gone = 0;
        return;
      }
      this.#gone += 1;
      if (!('type' in next)) {
        this.#waiting.delete(next.index);
        this.#begin(next, out);
      } else if (next.type === 'tool_call') this.#begin(next.tool_call, out);
      else out.push(next);
    }
  }
}
