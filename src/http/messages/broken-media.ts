import { dataUri } from '../../core/data-uri.ts';
import { membersOf, wordsOf } from '../../core/objects.ts';
import { refuseUnreadable } from '../to-chat.ts';

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
      const mime = wordsOf(mediaType);
      // An empty text is one to most vendors; it is theirs to refuse.
      if (data !== '' || !mime.startsWith('text/')) {
        refuseUnreadable(dataUri(mime, data), `${here}.source.data`, 'invalid_request');
      }
    }
    if (block['type'] === 'tool_result') refuseIn(block['content'], `${here}.content`);
  }
}
