import type { MediaPart, Message, Part } from '../core/chat.ts';
import { SluiceError } from '../core/errors.ts';
import { mediaTypeOf } from '../core/media-types.ts';
import type { Files } from '../core/stores.ts';
import type { Step } from '../core/stream.ts';
import { TakenBytes } from '../core/taken-bytes.ts';
import { mediaPath, nameOfAddress, readMediaName } from '../media/names.ts';
import { inlineMedia, MOST_BYTES, OWN_ORIGIN } from './inline-media.ts';

const ADDRESS = new RegExp(`${OWN_ORIGIN}(/(?:media|images)/[^/?#]+)(?:[?#].*)?$`);

/**
 * The name of the kept file that an address leads to. Another server of this machine may have a `/media` of its own, so a whole
 * address must end in a name as only ours are.
 */
export function keptName(url: string): string | undefined {
  const name = nameOfAddress(ADDRESS.exec(url)?.[1] ?? '');
  if (name === undefined || url.startsWith('/')) return name;
  const { seconds, hash } = readMediaName(name);
  return seconds === undefined || hash === undefined ? undefined : name;
}

/** Kept media of earlier answers, which no provider could fetch here, go along inline. */
export function keptMediaStep(files: Files): Step {
  async function resolve(part: Part, taken: TakenBytes): Promise<Part> {
    const name = part.type === 'media' ? keptName(part.url) : undefined;
    return name === undefined ? part : inline(files, name, part as MediaPart, taken);
  }
  return {
    name: 'kept media',
    async enrich(request, call) {
      if (!request.messages.some(hasKept)) return { request };
      const taken = new TakenBytes(MOST_BYTES, call);
      const messages = await Promise.all(
        request.messages.map(async (message): Promise<Message> => {
          if (!hasKept(message)) return message;
          return { ...message, content: await Promise.all(message.content.map((part) => resolve(part, taken))) };
        }),
      );
      return { request: { ...request, messages } };
    },
  };
}

function hasKept({ content }: Message): boolean {
  return content.some((part) => part.type === 'media' && keptName(part.url) !== undefined);
}

/** Where nothing is kept under a whole address, another program of this machine may know it. */
async function inline(files: Files, name: string, part: MediaPart, taken: TakenBytes): Promise<MediaPart> {
  const type = mediaTypeOf(name);
  const opened = type === undefined ? undefined : await files.open(mediaPath(name));
  if (type !== undefined && opened !== undefined) return inlineMedia(opened, name, type.mimeType, part, taken);
  if (!part.url.startsWith('/')) return part;
  throw new SluiceError('not_found', `There is no media file '${name.slice(0, 100)}' here.`, { param: 'messages' });
}
