import { textOf } from '../../core/objects.ts';
import type { Emit, Growing, GrowingItems } from './growing.ts';
import { placeOf } from './growing.ts';
import type { Json } from './wire.ts';

/** Items of tools that run at the upstream, and their events: all as it says, with our ids and places. */
export class HostedItems {
  readonly #items: GrowingItems;
  readonly #emit: Emit;
  /** By the upstream's id. */
  readonly #open = new Map<unknown, Growing>();

  constructor(items: GrowingItems, emit: Emit) {
    this.#items = items;
    this.#emit = emit;
  }

  begin({ id, ...item }: Json): void {
    this.#open.set(id, this.#items.begin(prefixOfId(id), item));
  }

  goOn(type: string, { item_id: id, output_index: _, ...fields }: Json): void {
    const growing = this.#open.get(id);
    if (growing !== undefined) this.#emit(type, { ...fields, ...placeOf(growing) });
  }

  end({ id, ...item }: Json): void {
    if (!this.#open.has(id)) this.begin({ id, ...item });
    const growing = this.#open.get(id);
    this.#open.delete(id);
    if (growing !== undefined) this.#items.done(growing, item);
  }
}

/** Upstreams look at how the ids of items begin. */
function prefixOfId(id: unknown): string {
  return /^[a-z]{1,16}(?=_)/.exec(textOf(id))?.[0] ?? 'item';
}
