import type { FastifyRequest } from 'fastify';
import { dataUri, mimeTypeOf } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import type { ImageInput, ImageRequest } from '../../core/image.ts';
import { isUploadId, uploadAddress } from '../../core/upload-address.ts';
import { kindOf } from '../../media/kind.ts';
import type { Deps } from '../deps.ts';
import { type FormFile, readForm } from '../edge/form.ts';
import type { JsonBody } from '../edge/json-body.ts';
import { mostInAll } from './images-own.ts';
import { FLAGS, NUMBERS, type Picture } from './images-wire.ts';

/** A request as it came: its fields, its pictures, and the JSON it was. */
export interface ReadImages {
  readonly value: Readonly<Record<string, unknown>>;
  /** Pictures of a form; those of JSON stand in `value`. */
  readonly images: readonly ImageInput[];
  readonly mask: ImageInput | undefined;
  readonly sent: ImageRequest['sent'];
}

/** Reads JSON, or a form with the parts `image` (or `image[]`) and `mask` and all else as fields. */
export async function readImages(request: FastifyRequest, deps: Deps): Promise<ReadImages> {
  if (!request.isForm) {
    const { value, bytes, members } = request.body as JsonBody;
    return { value, images: [], mask: undefined, sent: { bytes, members } };
  }
  const { limits } = deps.config();
  const bounds = {
    ...limits,
    fieldBytes: limits.bodyBytes,
    uploadFileBytes: Math.min(limits.uploadFileBytes, 5 * limits.chatBodyBytes),
    uploadRequestBytes: Math.min(limits.uploadRequestBytes, mostInAll(limits)),
  };
  const { fields, files } = await readForm(request.raw, bounds, deps);
  const value = Object.fromEntries(
    fields.map(({ name, value: text }) => [name.replace(/\[\]$/, ''), typed(name, text)]),
  );
  const images = files.filter(({ name }) => /^images?(\[\d*\])?$/.test(name)).map(toInput);
  const [mask] = files.filter(({ name }) => name === 'mask').map(toInput);
  return { value, images, mask, sent: undefined };
}

/** The pictures that stand in JSON. */
export function picturesOf(list: Picture | readonly Picture[] | null | undefined, param: string): ImageInput[] {
  if (list === null || list === undefined) return [];
  return (Array.isArray(list) ? list : [list]).map((picture: Picture, index) => {
    const place = Array.isArray(list) ? `${param}[${index}]` : param;
    const found = typeof picture === 'string' ? picture : (picture.image_url ?? picture.url ?? sentBefore(picture));
    const url = typeof found === 'object' ? found.url : found;
    if (url === undefined) {
      throw new SluiceError('invalid_field', `'${place}' names a file that is not here; send 'image_url' instead.`, {
        param: place,
      });
    }
    if (!/^(data:|https?:\/\/|\/(media|images|files|v1\/files)\/)/i.test(url)) {
      throw new SluiceError('invalid_field', `'${place}' must be an http, https or data: address.`, { param: place });
    }
    return { url, ...mimeTypeOf(url) };
  });
}

function sentBefore({ file_id: id }: Exclude<Picture, string>): string | undefined {
  return isUploadId(id) ? uploadAddress(id) : undefined;
}

/** Numbers and flags of a form; what is neither is left for the schema to complain about. */
function typed(name: string, text: string): unknown {
  if (NUMBERS.includes(name) && /^-?\d+(\.\d+)?$/.test(text.trim())) return Number(text);
  if (FLAGS.includes(name) && /^(true|false)$/i.test(text.trim())) return text.trim().toLowerCase() === 'true';
  return text;
}

function toInput({ name, filename, bytes }: FormFile): ImageInput {
  const kind = kindOf(bytes);
  if (kind?.kind !== 'image') {
    throw new SluiceError('invalid_field', `'${name}' must be a PNG, JPEG, WebP or GIF.`, { param: name });
  }
  const { mimeType } = kind;
  return { url: dataUri(mimeType, bytes), mimeType, name: filename };
}
