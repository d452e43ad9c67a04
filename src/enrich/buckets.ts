import type { Buckets } from '../buckets/buckets.ts';
import type { BucketPart, MediaPart, Message, Part } from '../core/chat.ts';
import { SluiceError } from '../core/errors.ts';
import type { BucketRecord } from '../core/stores.ts';
import type { Step } from '../core/stream.ts';
import { TakenBytes } from '../core/taken-bytes.ts';
import { cacheMark } from '../core/vendor.ts';
import { inlineMedia, MOST_BYTES, OWN_ORIGIN } from './inline-media.ts';

/** An address of our own under which a bucket's media is served. */
export const OWN_MEDIA = new RegExp(
  `${OWN_ORIGIN}/files/([A-Za-z0-9_-]{1,64})/(?:media|thumbnail)/([^/?#]+)(?:[?#].*)?$`,
);

/** Turns what was uploaded into what a provider can read: documents into text, media into inline media. */
export function bucketStep(buckets: Buckets): Step {
  async function resolve(part: Part, taken: TakenBytes): Promise<Part[]> {
    if (part.type === 'media') {
      const own = ownMedia(part);
      return own === undefined ? [part] : [await media(buckets, own, part, taken)];
    }
    if (part.type !== 'bucket') return [part];
    // Texts that are empty count nothing, and there may be many.
    taken.check();
    const { bucketId, name } = part;
    return name === undefined ? text(buckets, part, taken) : [await media(buckets, { bucketId, name }, part, taken)];
  }

  async function message(each: Message, taken: TakenBytes): Promise<Message[]> {
    if (!each.content.some(isOurs)) return [each];
    const content: Part[] = [];
    // One after the other: what is too much is known before the next file is read.
    for (const part of each.content) content.push(...(await resolve(part, taken)));
    // No upstream takes a message without words.
    return content.length === 0 && each.role === 'user' ? [] : [{ ...each, content }];
  }

  return {
    name: 'buckets',
    async enrich(request, call) {
      if (!request.messages.some(({ content }) => content.some(isOurs))) return { request };
      const taken = new TakenBytes(MOST_BYTES, call);
      const messages: Message[] = [];
      for (const each of request.messages) messages.push(...(await message(each, taken)));
      if (messages.some(isOfUser) || !request.messages.some(isOfUser)) return { request: { ...request, messages } };
      throw new SluiceError(
        'invalid_request',
        'There is no text in the buckets of the messages, and nothing beside them.',
        {
          param: 'messages',
        },
      );
    },
  };
}

function isOfUser({ role }: Message): boolean {
  return role === 'user';
}

/** Whether a part has to be resolved here. */
function isOurs(part: Part): boolean {
  return part.type === 'bucket' || (part.type === 'media' && ownMedia(part) !== undefined);
}

interface OwnMedia {
  readonly bucketId: string;
  readonly name: string;
}

function ownMedia(part: MediaPart): OwnMedia | undefined {
  const found = OWN_MEDIA.exec(part.url);
  if (found?.[1] === undefined || found[2] === undefined) return undefined;
  try {
    return { bucketId: found[1], name: decodeURIComponent(found[2]) };
  } catch {
    return undefined;
  }
}

async function text(buckets: Buckets, part: BucketPart, taken: TakenBytes): Promise<Part[]> {
  let all = '';
  for await (const piece of buckets.text(await find(buckets, part.bucketId))) {
    taken.take(Buffer.byteLength(piece), part.bucketId, 'messages');
    all += piece;
  }
  return all === '' ? [] : [{ type: 'text', text: all, ...cacheMark(part) }];
}

async function find(buckets: Buckets, id: string): Promise<BucketRecord> {
  try {
    return await buckets.get(id);
  } catch (error) {
    if (!(error instanceof SluiceError) || (error.code !== 'not_found' && error.code !== 'invalid_request'))
      throw error;
    throw new SluiceError('not_found', `There is no bucket '${id.slice(0, 100)}'. Upload to it before you ask.`, {
      param: 'messages',
    });
  }
}

async function media(
  buckets: Buckets,
  { bucketId, name }: OwnMedia,
  like: MediaPart | BucketPart,
  taken: TakenBytes,
): Promise<MediaPart> {
  await find(buckets, bucketId);
  const found = await buckets.media(bucketId, name, 'original');
  const opened = found === undefined ? undefined : await buckets.open(found.path);
  if (found === undefined || opened === undefined) {
    throw new SluiceError('not_found', `The bucket '${bucketId}' has no media file '${name.slice(0, 100)}'.`, {
      param: 'messages',
    });
  }
  return inlineMedia(opened, name, found.file.mimeType, like, taken);
}
