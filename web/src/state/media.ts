import type { Message } from './model.ts';

/** The names of the media that the server keeps of answers. */
export function keptNames(messages: readonly Message[]): ReadonlySet<string> {
  const urls = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'media' ? [part.url] : [])));
  return new Set(urls.flatMap((url) => nameIn(url) ?? []));
}

/** Undefined: it is no address of a kept file. Chats that were taken in may have any. */
function nameIn(url: string): string | undefined {
  try {
    const [, name] = /^\/media\/([^/?#]+)/.exec(url) ?? [];
    return name === undefined ? undefined : decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/**
 * What a kept file shows, from its name: `<seconds>_<model>+<ratio>+<words of the prompt>_<hash>.<extension>`.
 * `about` is what stands before the words, the model for example.
 */
export function readName(name: string): { readonly title: string; readonly about: string } {
  const slug = name
    .replace(/\.[^.]+$/, '')
    .replace(/^\d{1,12}_/, '')
    .replace(/_[\da-f]{16}$/, '');
  const pieces = slug.split('+').map((piece) => piece.replace(/_+/g, ' ').trim());
  const title = pieces.at(-1) ?? '';
  return { title: title === '' ? name : title, about: pieces.slice(0, -1).map(asRatio).join(' · ') };
}

function asRatio(piece: string): string {
  return piece.replace(/^(\d+) (\d+)$/, '$1:$2');
}

/** A file that was attached to a message: a bucket of its own on the server. Kept among the browser's records. */
export interface AttachedFile {
  /** Of the bucket. */
  readonly id: string;
  readonly name: string;
  readonly type: 'image' | 'audio' | 'video' | 'document';
  /** Its name in the bucket, for media. */
  readonly media?: string;
  /** Bytes, as the person gave it. */
  readonly size: number;
  /** Milliseconds. */
  readonly created: number;
}

/** The kind of record under which attached files are kept. */
export const ATTACHED = 'attached';
