import { base64Of, isBrokenDataUri, readDataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import { extensionFor, mediaTypeOf } from '../../core/media-types.ts';
import { nothingSaid } from '../to-chat.ts';
import type { WireMessage, WirePart } from '../wire.ts';
import type { ChatCompletionBody } from './wire.ts';

/**
 * The messages of a request as they are meant: with the attachments that its fields hold, and without those that have no parts,
 * which front ends send after a file was uploaded. The very same list when there is nothing of either.
 */
export function messagesOf(body: ChatCompletionBody): readonly WireMessage[] {
  const messages = withAttached(body);
  if (messages.every(isEmpty)) throw nothingSaid('invalid_field');
  return messages.some(hasNoParts) ? messages.filter((message) => !hasNoParts(message)) : messages;
}

/** An empty text is passed on, but is no question. Other members of a message may say something. */
function isEmpty(message: WireMessage): boolean {
  if (hasNoParts(message)) return true;
  return (message.content ?? '') === '' && Object.keys(message).every((name) => EMPTY_FIELDS.has(name));
}

const EMPTY_FIELDS: ReadonlySet<string> = new Set(['role', 'content', 'name']);

/** The result of a tool may be empty, and a model that calls one may say nothing. */
function hasNoParts({ role, content, tool_calls: calls }: WireMessage): boolean {
  return Array.isArray(content) && content.length === 0 && role !== 'tool' && (calls ?? []).length === 0;
}

/** The fields `image`, `images` and `media` hold attachments of the last message, in the way of gpt4free's clients. */
function withAttached(body: ChatCompletionBody): readonly WireMessage[] {
  const { messages, media, images, image, image_name: name = '' } = body;
  const attached = [
    ...(media ?? []).map(([url, name], index) => toPart(url, name, `media[${index}]`)),
    ...(images ?? []).map(([url, name], index) => toPart(url, name, `images[${index}]`)),
    ...(typeof image === 'string' ? [toPart(image, name ?? '', 'image')] : []),
  ];
  const last = messages.at(-1);
  if (attached.length === 0 || last === undefined) return messages;
  const parts: readonly WirePart[] =
    typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : (last.content ?? []);
  return [...messages.slice(0, -1), { ...last, content: [...attached, ...parts] }];
}

/** What it is says its type, then its name, then its address; what says nothing is taken for a picture. */
function toPart(url: string, name: string, field: string): WirePart {
  if (!/^(data:|https?:\/\/)/i.test(url)) throw wrong(field, 'must be a data: URI or an http(s) address');
  if (isBrokenDataUri(url)) throw wrong(field, 'must be valid base64');
  const inline = readDataUri(url)?.mimeType ?? '';
  const byName = mediaTypeOf(name) ?? (inline === '' ? mediaTypeOf(url.replace(/[?#].*$/s, '')) : undefined);
  const isTyped = inline !== '' && inline !== 'application/octet-stream';
  const kind = isTyped ? inline.split('/', 1)[0] : (byName?.kind ?? 'image');
  switch (kind) {
    case 'image':
      return { type: 'image_url', image_url: { url } };
    case 'video':
      return { type: 'video_url', video_url: { url } };
    case 'audio': {
      const data = base64Of(url);
      if (data === undefined) throw wrong(field, 'holds a sound, which must be a data: URI in base64');
      const format = extensionFor(isTyped ? inline : (byName?.mimeType ?? '')) ?? 'wav';
      return { type: 'input_audio', input_audio: { data, format } };
    }
    default:
      throw wrong(field, 'must be a picture, a sound or a video');
  }
}

function wrong(field: string, what: string): SluiceError {
  return new SluiceError('invalid_field', `'${field}' ${what}.`, { param: field });
}
