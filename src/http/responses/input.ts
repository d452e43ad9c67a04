import { SluiceError } from '../../core/errors.ts';
import { wordsOf } from '../../core/objects.ts';
import type { Deps } from '../deps.ts';
import { mostBytes, sizeOf } from './bounds.ts';
import { itemId, prefixOfType, responseOfItem } from './ids.ts';
import type { KeptItem } from './items.ts';
import { outputOf, stored } from './store.ts';
import type { Item, Json, ResponseBody } from './wire.ts';

/** Answers that one request may refer to by their items. */
const MOST_REFERRED = 200;

interface InputOptions {
  /** What went before in the conversation, which may be referred to as well. */
  readonly before?: readonly KeptItem[];
  /** What clients call the list. */
  readonly field?: string;
}

/**
 * What a request brings, as items with ids. References are followed, and calls and thoughts of stored answers get back what
 * their vendor attached, which clients of a server that stores need not carry.
 */
export async function inputOf(
  { input }: Pick<ResponseBody, 'input'>,
  response: string,
  deps: Deps,
  { before = [], field = 'input' }: InputOptions = {},
): Promise<readonly KeptItem[]> {
  const given: readonly Item[] =
    typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : (input ?? []);
  const known = await itemsOfAnswers(given, deps);
  for (const each of before) known.set(wordsOf(each.item['id']), each);
  const most = mostBytes(deps);
  let bytes = 0;
  return given.map((item, index) => {
    const id = typeof item['id'] === 'string' ? item['id'] : undefined;
    const found = id === undefined ? undefined : known.get(id);
    if (item.type === 'item_reference') {
      const param = `${field}[${index}].id`;
      if (found === undefined)
        throw new SluiceError('invalid_request', `Item with id '${wordsOf(id).slice(0, 100)}' not found.`, { param });
      // A few words may refer to megabytes, and to the same ones often.
      bytes += sizeOf(found);
      if (bytes <= most) return found;
      throw new SluiceError('too_large', `The items that '${field}' refers to have more than ${most} bytes.`, {
        param,
      });
    }
    const own = id ?? itemId(prefixOfType(item.type ?? 'message'), response, index, 'input');
    return {
      item: { ...normal(item), id: own },
      ...(found?.vendor === undefined ? {} : { vendor: found.vendor }),
      ...(found?.parts === undefined ? {} : { parts: found.parts }),
    };
  });
}

/** An item as listings have it: messages with parts, and a status. */
function normal(item: Item): Json {
  if (item.type === undefined || item.type === 'message') {
    const { role, content } = item as { role: string; content: unknown };
    const type = role === 'assistant' ? 'output_text' : 'input_text';
    const text = type === 'output_text' ? { type, text: content, annotations: [] } : { type, text: content };
    return {
      type: 'message',
      status: 'completed',
      ...item,
      ...(typeof content === 'string' ? { content: [text] } : {}),
    };
  }
  return STATED.has(item.type) ? { status: 'completed', ...item } : item;
}

/** Items with a status that the client sends; what other kinds have is not known here. */
const STATED: ReadonlySet<unknown> = new Set([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
]);

/** What the stored answers know of items that the request holds or refers to, by id. */
async function itemsOfAnswers(given: readonly Item[], deps: Deps): Promise<Map<string, KeptItem>> {
  const ids = new Set(given.map((item) => item['id']));
  const answers = new Set<string>();
  for (const item of given) {
    const answer = typeof item['id'] === 'string' ? responseOfItem(item['id']) : undefined;
    if (answer !== undefined && needsMore(item)) answers.add(answer);
  }
  const items = new Map<string, KeptItem>();
  for (const id of [...answers].slice(-MOST_REFERRED)) {
    const kept = await stored(deps, id);
    if (kept === undefined) continue;
    for (const each of [...kept.input, ...outputOf(kept)]) {
      // All that these answers hold together may be gigabytes.
      if (ids.has(each.item['id'])) items.set(wordsOf(each.item['id']), each);
    }
  }
  return items;
}

/** Whether the storage may know more of an item than it says itself. */
function needsMore(item: Item): boolean {
  if (item.type === 'reasoning') return typeof item['encrypted_content'] !== 'string';
  return item.type === 'item_reference' || item.type === 'function_call' || item.type === 'custom_tool_call';
}
