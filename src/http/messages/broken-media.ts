import { membersOf, wordsOf } from '../../core/objects.ts';
import { refuseNoBase64, refuseUnreadable } from '../to-chat.ts';

/** Throws at pictures and documents that nobody could read. Anthropic hears of them as they are. */
export function refuseBroken(messages: readonly { readonly content: unknown }[]): void {
  for (const [index, { content }] of messages.entries()) refuseIn(content, `messages[${index}].content`);
}

function refuseIn(content: unknown, place: string): void {
  if (!Array.isArray(content)) return;
  for (const [at, each] of content.entries()) {
    const block = membersOf(each);
    const { type, media_type: mediaType, data, url } = membersOf(block['source']);
    const here = `${place}[${at}]`;
    if (type === 'url' && typeof url === 'string') refuseUnreadable(url, `${here}.source.url`, 'invalid_request');
    if (type === 'base64' && typeof data === 'string') {
      refuseNoBase64(data, wordsOf(mediaType), `${here}.source.data`);
    }
    if (block['type'] === 'tool_result') refuseIn(block['content'], `${here}.content`);
  }
}
