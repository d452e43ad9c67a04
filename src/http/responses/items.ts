import type { VendorData } from '../../core/chat.ts';
import { sealVendor } from '../../core/vendor.ts';
import { shownTools } from './shown-tools.ts';
import type { Json } from './wire.ts';

/** An item as clients know it, and beside it what a vendor attached, which they see only sealed. */
export interface KeptItem {
  readonly item: Json;
  /** Of a reasoning item or a call. */
  readonly vendor?: VendorData;
  /** Of the parts of a message, in their order. */
  readonly parts?: readonly (VendorData | null)[];
}

/** The item for a client; `encrypted`: with what belongs to thoughts, which it hands back. */
export function shown({ item, vendor }: KeptItem, encrypted: boolean): Json {
  if (item['type'] === 'additional_tools' && Array.isArray(item['tools'])) {
    return { ...item, tools: shownTools(item['tools']) };
  }
  if (item['type'] !== 'reasoning') return item;
  const { encrypted_content: own, ...rest } = item;
  if (!encrypted) return rest;
  // Sealed even where there is nothing to seal: clients that keep the conversation leave out thoughts without it.
  return { ...rest, encrypted_content: own ?? sealVendor(vendor ?? {}) };
}

/** Items on a page where the client does not say how many. */
export const USUAL_LIMIT = 20;

/** A page of items. */
export function listOf(
  items: readonly KeptItem[],
  { encrypted, hasMore }: { readonly encrypted: boolean; readonly hasMore: boolean },
): Json {
  const data = items.map((item) => shown(item, encrypted));
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: hasMore,
  };
}

/**
 * A call or a text may have a signature too (Gemini's have), but no field for it. So an item of reasoning without words carries
 * it for clients that keep the conversation themselves. `key`: the call's id, or a `partKey`.
 */
export function carrierOf(key: string, vendor: VendorData): VendorData {
  return { [CARRIER]: { [key]: vendor } };
}

/** A part of a message, by the message's id. */
export function partKey(message: string, index: number): string {
  return `${message}/${index}`;
}

/** What `carrierOf` packed: vendor data by key. Undefined for reasoning of its own. */
export function carriedBy(vendor: VendorData): Readonly<Record<string, VendorData>> | undefined {
  return vendor[CARRIER] as Readonly<Record<string, VendorData>> | undefined;
}

const CARRIER = 'sluice';

/** Whether vendor data says more than under which id its vendor knows the item. */
export function isWorthKeeping(vendor: VendorData): boolean {
  return Object.values(vendor).some((data) =>
    Object.keys(data).some((name) => name !== 'itemId' && data[name] !== null),
  );
}
