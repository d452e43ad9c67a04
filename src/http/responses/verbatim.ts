import type { VendorData } from '../../core/chat.ts';
import { textOf } from '../../core/objects.ts';
import { openVendor, vendorText } from '../../core/vendor.ts';
import { isInputId, prefixOfType } from './ids.ts';
import { carriedBy, type KeptItem } from './items.ts';
import type { Json } from './wire.ts';

/**
 * What the assistant said, thought and called, item by item, for an upstream of the same API. It gets them back as it wrote them; an
 * item of another vendor's thoughts is nothing to it.
 */
export class VerbatimItems {
  #items: Json[] = [];
  #isLossy = false;

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  add(kept: KeptItem): void {
    if (kept.item['type'] !== 'reasoning') {
      this.#items.push(asWritten(kept.item));
      return;
    }
    if (isCarrier(kept)) return;
    const thought = thoughtOf(kept);
    if (thought === undefined) this.#isLossy = true;
    else this.#items.push(thought);
  }

  /** All that has been added since, as data of the message that is made of it. */
  take(): VendorData {
    const taken: VendorData = { openai: { items: this.#items, ...(this.#isLossy ? { isLossy: true } : {}) } };
    this.#items = [];
    this.#isLossy = false;
    return taken;
  }
}

/** An item without what only our listings add to it, and without an id of the wrong kind: OpenAI refuses both. */
export function asWritten(item: Json): Json {
  const { id, status, ...rest } = item;
  const type = textOf(item['type'] ?? 'message');
  const prefix = MAY_LACK_ID.has(type) ? prefixOfType(type) : '';
  const hasId = typeof id === 'string' && id.startsWith(prefix) && !isInputId(id);
  const hasStatus = status !== undefined && !STATELESS.has(type);
  return { ...(hasId ? { id } : {}), ...rest, ...(hasStatus ? { status } : {}) };
}

/** Kinds of items whose status is ours. */
const STATELESS: ReadonlySet<string> = new Set(['custom_tool_call', 'custom_tool_call_output', 'function_call_output']);

/** Kinds of items whose ids may be left out. */
const MAY_LACK_ID: ReadonlySet<string> = new Set(['message', 'function_call', 'custom_tool_call']);

/** Whether an item of reasoning stands for no thought, but carries what belongs to others. */
function isCarrier({ item, vendor }: KeptItem): boolean {
  const sealed = item['encrypted_content'];
  const opened = typeof sealed === 'string' ? openVendor(sealed) : undefined;
  return [vendor, opened].some((data) => data !== undefined && carriedBy(data) !== undefined);
}

/** Thoughts that OpenAI can read: with what it encrypted itself. */
function thoughtOf({ item, vendor: kept }: KeptItem): Json | undefined {
  const { encrypted_content: encrypted, summary = [] } = item;
  const sealed = typeof encrypted === 'string' && encrypted !== '' ? encrypted : undefined;
  const opened = sealed === undefined ? kept : openVendor(sealed);
  if (sealed !== undefined && opened === undefined) return item;
  const id = vendorText(opened, 'openai', 'itemId');
  const own = vendorText(opened, 'openai', 'reasoningEncryptedContent');
  if (own === undefined) return undefined;
  return { type: 'reasoning', ...(id === undefined ? {} : { id }), summary, encrypted_content: own };
}
