import type { FastifyRequest } from 'fastify';
import type { MediaPart } from '../../core/chat.ts';
import { dataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import { extensionFor, mediaTypeOf } from '../../core/media-types.ts';
import { Refusal } from '../../documents/conversion.ts';
import { type Identity, identify } from '../../documents/identify.ts';
import { checkPublicAddress } from '../../outbound/address.ts';
import type { Deps } from '../deps.ts';
import { bodyValue, parseJson } from '../edge/body.ts';
import { type FormFile, readForm } from '../edge/form.ts';

/** A conversation's JSON, the media that came with it, and what of the form was passed over. */
export interface ConversationInput {
  readonly value: Record<string, unknown>;
  readonly media: readonly MediaPart[];
  readonly lost: readonly string[];
}

/** Reads a conversation as JSON, or as a form with the parts `json`, `files` and `media_url`. */
export async function readConversation(request: FastifyRequest, deps: Deps): Promise<ConversationInput> {
  if (!request.isForm) return { value: bodyValue(request), media: [], lost: [] };
  const { limits } = deps.config();
  // Everything here travels inline to a provider, and is held in memory meanwhile: larger things belong into buckets.
  const bounds = {
    ...limits,
    fieldBytes: limits.chatBodyBytes,
    fieldNames: ['json'],
    uploadFileBytes: Math.min(limits.uploadFileBytes, 2 * limits.chatBodyBytes),
    uploadRequestBytes: Math.min(limits.uploadRequestBytes, 4 * limits.chatBodyBytes),
  };
  const form = await readForm(request.raw, bounds, deps);
  const json = form.fields.find(({ name }) => name === 'json');
  if (json === undefined)
    throw new SluiceError('invalid_request', "The form needs a part 'json' with the request.", { param: 'json' });
  const { value } = parseJson(Buffer.from(json.value), limits, "The part 'json'");
  const media = form.files.flatMap((file) => (file.name === 'files' ? (mediaPart(file) ?? []) : []));
  const lost = media.length === form.files.length ? [] : ['files'];
  for (const { name, value: url } of form.fields) {
    if (name !== 'media_url') continue;
    await checkPublicAddress(url, 'media_url');
    const type = mediaTypeOf(new URL(url).pathname);
    media.push({
      type: 'media',
      kind: type?.kind ?? 'image',
      url,
      ...(type === undefined ? {} : { mimeType: type.mimeType }),
    });
  }
  return { value, media, lost };
}

/** Only media is of use to a model; documents go into buckets. What the name says has to be true of the bytes. */
function mediaPart(file: FormFile): MediaPart | undefined {
  const name = nameOf(file);
  const type = mediaTypeOf(name) === undefined ? undefined : typeOf(name, file.bytes);
  if (type === undefined || !('mimeType' in type)) return undefined;
  const { kind, mimeType } = type;
  return { type: 'media', kind, url: dataUri(mimeType, file.bytes), mimeType, name };
}

/** Browsers send pasted media without a name, or as `blob`. */
function nameOf({ filename, mimeType }: FormFile): string {
  const extension = filename === '' || filename === 'blob' ? extensionFor(mimeType) : undefined;
  return extension === undefined ? filename : `file.${extension}`;
}

function typeOf(name: string, bytes: Buffer): Identity | undefined {
  try {
    return identify(name, bytes);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
