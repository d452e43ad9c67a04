import type { MediaPart, Part } from '../../core/chat.ts';
import { asDataUri, mimeTypeOf } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import { wordsOf } from '../../core/objects.ts';
import { isUploadId, uploadAddress } from '../../core/upload-address.ts';
import type { Json } from './wire.ts';

/** Content of a message or of a function's output → parts. `drop` hears what has no place. */
export function toParts(content: unknown, drop: (what: string) => void): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: Json) => toPart(part, drop).map((made) => withFurther(made, part, drop)));
}

/** What has a place in the middle, of the parts that clients write. */
const MEMBERS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['input_text', ['type', 'text']],
  ['input_image', ['type', 'image_url', 'file_id', 'detail']],
  ['input_file', ['type', 'file_data', 'file_url', 'file_id', 'filename']],
  ['input_audio', ['type', 'input_audio']],
]);

/** A part with the further members that only an upstream of this API understands. */
function withFurther(made: Part, sent: Json, drop: (what: string) => void): Part {
  const known = MEMBERS.get(sent['type']);
  if (known === undefined || made.type === 'bucket' || made.vendor !== undefined) return made;
  const further = Object.entries(sent).filter(
    ([name, value]) => !known.includes(name) && value != null && !(name === 'detail' && value === 'auto'),
  );
  if (further.length === 0) return made;
  for (const [name] of further) drop(name);
  return { ...made, vendor: { openai: { fields: Object.fromEntries(further) } } };
}

function toPart(part: Json, drop: (what: string) => void): Part[] {
  const { type, text, bucket_id: bucketId, name } = part;
  if (typeof bucketId === 'string') {
    return [{ type: 'bucket', bucketId, ...(typeof name === 'string' ? { name } : {}) }];
  }
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case undefined:
      if (typeof text === 'string') return text === '' ? [] : [{ type: 'text', text }];
      break;
    case 'refusal':
      if (typeof part['refusal'] === 'string') return [{ type: 'text', text: part['refusal'] }];
      break;
    case 'input_image': {
      const image = toImage(part);
      if (image !== undefined) return [image];
      break;
    }
    case 'input_file': {
      const file = toFile(part);
      if (file !== undefined) return [file];
      break;
    }
    case 'input_audio': {
      const audio = toAudio(part['input_audio']);
      if (audio !== undefined) return [audio];
      break;
    }
  }
  drop(typeof part['file_id'] === 'string' ? 'file_id' : wordsOf(type ?? 'content').slice(0, 64));
  // Nothing to anybody but an upstream of this API.
  return [{ type: 'text', text: '', vendor: { openai: { part } } }];
}

function toImage({ image_url: image, file_id: id, detail }: Json): MediaPart | undefined {
  const given = typeof image === 'object' && image !== null ? (image as Json)['url'] : image;
  const url = given ?? (isUploadId(id) ? uploadAddress(id) : undefined);
  if (typeof url !== 'string' || url === '') return undefined;
  const isSaid = typeof detail === 'string' && detail !== 'auto';
  return { type: 'media', kind: 'image', url, ...mimeTypeOf(url), ...(isSaid ? { detail } : {}) };
}

function toFile({ file_data: data, file_url: given, file_id: id, filename }: Json): MediaPart | undefined {
  const name = typeof filename === 'string' ? { name: filename } : {};
  if (typeof data === 'string') {
    refuseAddress(data, 'input.file_data', "; 'file_url' takes one");
    const type =
      typeof filename === 'string' && /\.pdf$/i.test(filename) ? 'application/pdf' : 'application/octet-stream';
    const url = asDataUri(type, data);
    return { type: 'media', kind: 'file', url, ...mimeTypeOf(url), ...name };
  }
  const address = given ?? (isUploadId(id) ? uploadAddress(id) : undefined);
  if (typeof address !== 'string') return undefined;
  return { type: 'media', kind: 'file', url: address, ...mimeTypeOf(address), ...name };
}

function toAudio(audio: unknown): MediaPart | undefined {
  const { data, format } = (audio ?? {}) as { data?: unknown; format?: unknown };
  if (typeof data !== 'string') return undefined;
  refuseAddress(data, 'input.input_audio.data', '');
  const mime = `audio/${format === 'mp3' ? 'mpeg' : typeof format === 'string' ? format : 'wav'}`;
  const url = asDataUri(mime, data);
  return { type: 'media', kind: 'audio', url, mimeType: mime };
}

/** Whoever gets an address in the place of base64 reads it as some. */
function refuseAddress(data: string, param: string, advice: string): void {
  if (!/^\s*https?:/i.test(data)) return;
  const message = `'${param}' must be base64 or a data: URI, and not an address${advice}.`;
  throw new SluiceError('invalid_field', message, { param });
}
