import type { VendorData } from '../../core/chat.ts';
import { itemId } from './ids.ts';
import { carrierOf, isWorthKeeping, type KeptItem, shown } from './items.ts';
import type { Json } from './wire.ts';

/** Told of every event, with all its fields but `type` and `sequence_number`. */
export type Emit = (type: string, fields: Json) => void;

/** An item that is being made; its members change until it is done. */
export interface Growing {
  readonly index: number;
  readonly id: string;
  readonly item: Json;
  vendor?: VendorData;
  parts?: (VendorData | null)[];
  isDone: boolean;
}

/** The items of an answer in their order, and the events with which each begins and ends. */
export class GrowingItems {
  readonly #response: string;
  readonly #emit: Emit;
  readonly #encrypted: boolean;
  readonly #items: Growing[] = [];

  /** @param encrypted whether clients get what vendors attached, to hand it back */
  constructor(response: string, encrypted: boolean, emit: Emit) {
    this.#response = response;
    this.#encrypted = encrypted;
    this.#emit = emit;
  }

  get length(): number {
    return this.#items.length;
  }

  /** Copies of all of them as they are now. `unfinished` tells of a part that is still being written. */
  kept(unfinished: (growing: Growing) => Json | undefined): readonly KeptItem[] {
    return this.#items.map((growing) => {
      const { vendor, parts } = growing;
      const item = structuredClone(growing.item);
      const part = unfinished(growing);
      if (part !== undefined) (item['content'] as Json[]).push(part);
      return { item, ...(vendor === undefined ? {} : { vendor }), ...(parts === undefined ? {} : { parts }) };
    });
  }

  begin(prefix: string, fields: Json): Growing {
    const index = this.#items.length;
    const id = itemId(prefix, this.#response, index);
    const growing: Growing = { index, id, item: { id, ...fields }, isDone: false };
    this.#items.push(growing);
    this.#emit('response.output_item.added', { output_index: index, item: this.#shownOf(growing) });
    return growing;
  }

  /** Adds what a vendor attached to a call or a text, for clients that hand it back. */
  carry(key: string, vendor: VendorData | null | undefined): void {
    if (!this.#encrypted || vendor === undefined || vendor === null || !isWorthKeeping(vendor)) return;
    const carrier = this.begin('rs', { type: 'reasoning', status: 'in_progress', summary: [] });
    carrier.vendor = carrierOf(key, vendor);
    this.done(carrier, { status: 'completed' });
  }

  /** The end of an item, with what is known of it by now. */
  done(growing: Growing, members: Json): void {
    growing.isDone = true;
    Object.assign(growing.item, members);
    this.#emit('response.output_item.done', { output_index: growing.index, item: this.#shownOf(growing) });
  }

  #shownOf({ item, vendor }: Growing): Json {
    return shown({ item: structuredClone(item), ...(vendor === undefined ? {} : { vendor }) }, this.#encrypted);
  }
}

/** How an event says which item of the output it is about. */
export function placeOf({ id, index }: Growing): Json {
  return { item_id: id, output_index: index };
}
