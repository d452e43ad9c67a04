import { isWholeJson } from '../../core/call-pieces.ts';
import type { ToolCallDelta } from '../../core/chunk.ts';
import { FreeformInput } from '../freeform.ts';
import type { Callable } from './callables.ts';
import { type Emit, type Growing, type GrowingItems, placeOf } from './growing.ts';
import { itemId } from './ids.ts';

/** A call that is being made; `input`: of a freeform tool. */
interface Call {
  /** Its place among the calls of the answer. */
  readonly place: number;
  readonly growing: Growing;
  readonly input?: FreeformInput;
}

/** Calls of what the client runs itself → their items and events. */
export class ClientCalls {
  readonly #response: string;
  readonly #items: GrowingItems;
  readonly #emit: Emit;
  readonly #callables: ReadonlyMap<string, Callable>;
  /** Those of which something may follow, by their places. */
  readonly #calls = new Map<number, Call>();
  /** Those among them that are done: what their vendor attached may follow. */
  readonly #ended = new Set<Call>();
  /** The places of those that are over. Pieces of them say nothing any more. */
  readonly #over = new Set<number>();
  /** Those to which something has come since the last look whether they are over: of many calls few are. */
  readonly #grown = new Set<Call>();

  /** @param callables the tools of the request, by the names that models know them by */
  constructor(response: string, items: GrowingItems, emit: Emit, callables: ReadonlyMap<string, Callable>) {
    this.#response = response;
    this.#items = items;
    this.#emit = emit;
    this.#callables = callables;
  }

  has(index: number): boolean {
    return this.#calls.has(index) || this.#over.has(index);
  }

  add({ index, id, name, arguments: fragment, vendor }: ToolCallDelta): void {
    if (this.#over.has(index)) return;
    const call = this.#calls.get(index) ?? this.#begin(index, id, name ?? '');
    const { growing, input } = call;
    if (vendor !== undefined) growing.vendor = { ...growing.vendor, ...vendor };
    if (fragment === '' || growing.isDone) return;
    this.#grown.add(call);
    if (input === undefined) this.#write(growing, 'arguments', fragment);
    else this.#write(growing, 'input', input.add(fragment));
  }

  /** Something else follows. Calls that are not complete go on behind it: some upstreams write words in their middle. */
  interrupt(): void {
    this.#endWhole();
    this.#leave();
  }

  /** Nothing follows of any of them. */
  end(status: 'completed' | 'incomplete'): void {
    for (const call of this.#calls.values()) this.#done(call, status);
    this.#leave();
  }

  /** Most upstreams write one call after the other; fragments of a call that is complete do not follow. */
  #endWhole(): void {
    for (const call of this.#grown) {
      const { growing, input } = call;
      if (input?.isOver ?? isWholeJson(String(growing.item['arguments']))) this.#done(call, 'completed');
    }
    this.#grown.clear();
  }

  #leave(): void {
    for (const { place, growing } of this.#ended) {
      this.#calls.delete(place);
      this.#over.add(place);
      this.#items.carry(String(growing.item['call_id']), growing.vendor);
    }
    this.#ended.clear();
  }

  #begin(index: number, id: string | undefined, name: string): Call {
    this.#endWhole();
    const callId = id === undefined || id === '' ? itemId('call', this.#response, this.#items.length) : id;
    const known: Partial<Callable> = this.#callables.get(name) ?? {};
    const called = {
      status: 'in_progress',
      call_id: callId,
      name: known.name ?? name,
      ...(known.namespace === undefined ? {} : { namespace: known.namespace }),
    };
    const call: Call =
      known.isFreeform === true
        ? {
            place: index,
            growing: this.#items.begin('ctc', { type: 'custom_tool_call', ...called, input: '' }),
            input: new FreeformInput(),
          }
        : { place: index, growing: this.#items.begin('fc', { type: 'function_call', ...called, arguments: '' }) };
    this.#calls.set(index, call);
    return call;
  }

  #write(growing: Growing, member: 'arguments' | 'input', delta: string): void {
    if (delta === '') return;
    growing.item[member] = `${growing.item[member]}${delta}`;
    const of = member === 'arguments' ? 'function_call_arguments' : 'custom_tool_call_input';
    this.#emit(`response.${of}.delta`, { ...placeOf(growing), delta });
  }

  #done(call: Call, status: 'completed' | 'incomplete'): void {
    const { growing, input } = call;
    if (growing.isDone) return;
    this.#ended.add(call);
    const place = placeOf(growing);
    if (input === undefined) {
      // Some upstreams write nothing where there are no arguments; clients read JSON.
      if (status === 'completed' && growing.item['arguments'] === '') this.#write(growing, 'arguments', '{}');
      const { arguments: written, name } = growing.item;
      this.#emit('response.function_call_arguments.done', { ...place, name, arguments: written });
    } else {
      this.#write(growing, 'input', input.end());
      this.#emit('response.custom_tool_call_input.done', { ...place, input: growing.item['input'] });
    }
    this.#items.done(growing, { status });
  }
}
