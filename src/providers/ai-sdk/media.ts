import type { LanguageModelV4FilePart } from '@ai-sdk/provider';
import type { MediaPart } from '../../core/chat.ts';
import { isBrokenDataUri, isDataUri, readDataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';

/** By file name extension, for addresses whose type the client did not name. */
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/plain',
  html: 'text/html',
  csv: 'text/csv',
};

const DEFAULT_TYPES = { image: 'image/jpeg', audio: 'audio/wav', video: 'video/mp4', file: 'application/pdf' } as const;

/** The addresses that a model's vendor fetches by itself: patterns by media type, `image/*` and `*` included. */
export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>;

/** Media of a message → a file part: inline data as it is, addresses only where the vendor fetches them. */
export function toFilePart(part: MediaPart, supportedUrls: SupportedUrls, label: string): LanguageModelV4FilePart {
  const name = part.name === undefined ? {} : { filename: part.name };
  if (isDataUri(part.url)) return { type: 'file', ...name, ...inline(part) };
  const url = URL.canParse(part.url) ? new URL(part.url) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new SluiceError('invalid_request', 'Media must be an http(s) address or a data: URI.', { param: 'messages' });
  }
  const mediaType = normal(part.mimeType) ?? typeOfPath(url.pathname) ?? DEFAULT_TYPES[part.kind];
  if (!isSupported(url.href, mediaType, supportedUrls)) {
    throw new SluiceError('invalid_request', `${label} does not fetch this ${part.kind}: send it as a data: URI.`, {
      param: 'messages',
    });
  }
  return { type: 'file', ...name, mediaType, data: { type: 'url', url } };
}

function inline(part: MediaPart): Pick<LanguageModelV4FilePart, 'mediaType' | 'data'> {
  const uri = readDataUri(part.url);
  if (uri?.isBase64 !== true) {
    throw new SluiceError('invalid_request', 'A data: URI must hold base64 data.', { param: 'messages' });
  }
  const { data } = uri;
  const mediaType = normal(uri.mimeType) ?? normal(part.mimeType) ?? DEFAULT_TYPES[part.kind];
  const isText = /^text\/|^application\/(json|xml|yaml|x-yaml)$/.test(mediaType);
  if (isBrokenDataUri(part.url) && !(isText && data === '')) {
    throw new SluiceError('invalid_request', 'Media must be valid base64, and not empty.', { param: 'messages' });
  }
  // Vendors take few document types, but all of them take text.
  if (isText) {
    return { mediaType: 'text/plain', data: { type: 'text', text: Buffer.from(data, 'base64').toString('utf8') } };
  }
  return { mediaType, data: { type: 'data', data } };
}

function isSupported(url: string, mediaType: string, supportedUrls: SupportedUrls): boolean {
  return Object.entries(supportedUrls).some(([type, patterns]) => {
    const fits = type === '*' || type === '*/*' || type === mediaType || type === mediaType.replace(/\/.*/, '/*');
    return fits && patterns.some((pattern) => pattern.test(url.toLowerCase()));
  });
}

function typeOfPath(path: string): string | undefined {
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(TYPES, extension) ? TYPES[extension] : undefined;
}

function normal(mimeType: string | undefined): string | undefined {
  const type = mimeType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === undefined || !type.includes('/')) return undefined;
  // A common misspelling, which vendors refuse.
  return type === 'image/jpg' ? 'image/jpeg' : type;
}
