/** A kind of media that Sluice takes in and serves. */
export interface MediaType {
  readonly kind: 'image' | 'audio' | 'video';
  readonly mimeType: string;
}

/** By file extension: the media of the contract, no other. */
const TYPES: Readonly<Record<MediaType['kind'], Readonly<Record<string, string>>>> = {
  image: { jpeg: 'jpeg', jpg: 'jpeg', png: 'png', gif: 'gif', webp: 'webp' },
  audio: { wav: 'wav', mp3: 'mpeg', flac: 'flac', opus: 'opus', ogg: 'ogg', m4a: 'mp4' },
  video: {
    mkv: 'x-matroska',
    webm: 'webm',
    mp4: 'mp4',
    mov: 'quicktime',
    avi: 'x-msvideo',
    ogv: 'ogg',
    mpg: 'mpeg',
    mpeg: 'mpeg',
  },
};

const BY_EXTENSION = new Map<string, MediaType>(
  (['image', 'audio', 'video'] as const).flatMap((kind) =>
    Object.entries(TYPES[kind]).map(
      ([extension, subtype]) => [extension, { kind, mimeType: `${kind}/${subtype}` }] as const,
    ),
  ),
);

/** What kind of media a type is of; everything that is none is a file. */
export function mediaKind(mimeType: string): MediaType['kind'] | 'file' {
  const kind = /^(image|audio|video)\//i.exec(mimeType)?.[1]?.toLowerCase();
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file';
}

/** What a file's name says it is, whatever the case of its extension; undefined when it is no media. */
export function mediaTypeOf(name: string): MediaType | undefined {
  const dot = name.lastIndexOf('.');
  return dot === -1 ? undefined : BY_EXTENSION.get(name.slice(dot + 1).toLowerCase());
}

/** Media type → the extension it is stored with, also under the other names that browsers have for it. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ...[
    'jpg',
    'png',
    'gif',
    'webp',
    'wav',
    'mp3',
    'flac',
    'opus',
    'ogg',
    'm4a',
    'mkv',
    'webm',
    'mp4',
    'mov',
    'avi',
    'ogv',
    'mpg',
  ].map((extension) => [BY_EXTENSION.get(extension)?.mimeType ?? '', extension] as const),
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/vnd.wave', 'wav'],
  ['audio/x-m4a', 'm4a'],
  ['audio/mp3', 'mp3'],
  ['audio/x-flac', 'flac'],
]);

/** What a file of a media type is called at its end, without the dot; undefined for a type that is no media. */
export function extensionFor(mimeType: string): string | undefined {
  return EXTENSIONS.get(mimeType.toLowerCase());
}
