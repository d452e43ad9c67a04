import type { MediaPart, Message, Part, TextPart } from '../core/chat.ts';
import { dataUri } from '../core/data-uri.ts';
import { framed } from '../core/framed-text.ts';
import { mediaKind } from '../core/media-types.ts';
import { isObject } from '../core/objects.ts';
import { collectBytes } from '../core/pieces.ts';
import type { UploadRecord } from '../core/stores.ts';
import type { Step } from '../core/stream.ts';
import { TakenBytes } from '../core/taken-bytes.ts';
import { isUpload, uploadIn } from '../core/upload-address.ts';
import { cacheMark } from '../core/vendor.ts';
import type { Uploads } from '../uploads/uploads.ts';

/** Bytes of the files of one request that are sent to a provider inline; of one that becomes text, also of that. */
const MOST_BYTES = 32 * 1024 * 1024;

/** The type of files of which nothing is known. */
const UNKNOWN = 'application/octet-stream';

/** What models take as it is. Other documents become text, which all of them read. */
const NATIVE = /^(?:application\/pdf$|image\/|audio\/|video\/)/;

/** Puts files that were sent before in the place of their addresses, as if they had come inline. */
export function uploadStep(uploads: Uploads): Step {
  return {
    name: 'files',
    async enrich(request, call) {
      if (!request.messages.some(({ content }) => content.some(isUpload))) return { request };
      const taken = new TakenBytes(MOST_BYTES, call);
      /** What documents say, each read once: one that cannot be read may take half a minute to find that out. */
      const texts = new Map<string, string | undefined>();
      const textOf = async (record: UploadRecord): Promise<string | undefined> => {
        if (NATIVE.test(record.mimeType)) return undefined;
        if (!texts.has(record.id)) texts.set(record.id, await uploads.text(record, call.signal));
        return texts.get(record.id);
      };
      const inline = async (part: Part): Promise<Part> => {
        const id = part.type === 'media' ? uploadIn(part.url) : undefined;
        if (part.type !== 'media' || id === undefined) return part;
        const record = await uploads.get(id);
        taken.take(record.size, record.name, 'file_id');
        const text = await textOf(record);
        if (text !== undefined) {
          // What is zipped says many times as much.
          taken.take(Math.max(0, Buffer.byteLength(text) - record.size), record.name, 'file_id');
          return asText(part, part.name ?? record.name, text);
        }
        const bytes = await collectBytes((await uploads.open(record)).body);
        const mimeType = record.mimeType === UNKNOWN ? (part.mimeType ?? UNKNOWN) : record.mimeType;
        const url = dataUri(mimeType, bytes);
        // What the file is, and not what the part that refers to it says.
        return {
          ...part,
          kind: mediaKind(mimeType),
          url,
          mimeType,
          name: part.name ?? record.name,
        } satisfies MediaPart;
      };
      const messages: Message[] = [];
      // One after the other: what is left is known before the next file is read.
      for (const message of request.messages) {
        const content: Part[] = [];
        for (const part of message.content) content.push(await inline(part));
        messages.push({ ...message, content });
      }
      return { request: { ...request, messages } };
    },
  };
}

/** What else Anthropic's clients say of a document (its context, that it may be cited) has a place in one of Anthropic's only. */
function asText(part: MediaPart, name: string, data: string): TextPart {
  const text: TextPart = { type: 'text', text: framed(name, data), ...cacheMark(part) };
  const { fields, cacheControl } = part.vendor?.['anthropic'] ?? {};
  if (!isObject(fields)) return text;
  const mark = cacheControl === undefined ? {} : { cache_control: cacheControl };
  const source = { type: 'text', media_type: 'text/plain', data };
  const block = { type: 'document', source, title: name, ...fields, ...mark };
  return { ...text, vendor: { anthropic: { ...text.vendor?.['anthropic'], block } } };
}
