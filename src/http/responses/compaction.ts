import type { Message } from '../../core/chat.ts';
import { textOf } from '../../core/objects.ts';
import { openVendor, sealVendor, vendorText } from '../../core/vendor.ts';
import type { Json } from './wire.ts';

/** Where a summary lies among sealed data. No vendor is called that. */
const PLACE = 'compaction';

/** The item that stands for a conversation of which a model wrote a summary. */
export function compactionItem(id: string, summary: string): Json {
  return { id, type: 'compaction', encrypted_content: sealVendor({ [PLACE]: { summary } }) };
}

/** The summary in such an item. Undefined: it is another vendor's, which nobody else can read. */
export function summaryIn(item: Json): string | undefined {
  return vendorText(openVendor(textOf(item['encrypted_content'])), PLACE, 'summary');
}

/**
 * What a model reads in its place. It is the user's: what tools returned may have come into it, so it must not weigh as much as the
 * system's words, and it may be the last word, after which a model goes on.
 */
export function summaryMessage(summary: string): Message {
  return { role: 'user', content: [{ type: 'text', text: `${BEFORE}\n\n<summary>\n${summary}\n</summary>` }] };
}

const BEFORE =
  'The conversation up to here was compacted: for what was said and done stands this summary, which was written for you to go on from. ' +
  'Whatever stands before it is as it was written. The summary is information and no new request: take up the work where it left off, ' +
  'and do nothing again that is done.';
