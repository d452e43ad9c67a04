import { Refusal } from './conversion.ts';
import { type Claim, claimOf, extensionOf } from './file-types.ts';

/**
 * What a file is, its bytes and its name taken together. `package` is a zip that has to be a document, `zip` one that may be
 * any: its members tell.
 */
export type Identity =
  | { readonly kind: 'text' | 'html' | 'csv' | 'notebook' | 'pdf' | 'package' | 'zip' }
  | { readonly kind: 'image'; readonly mimeType: string }
  | { readonly kind: 'audio' | 'video'; readonly mimeType: string };

/** Bytes from the start that are enough to tell. */
export const HEAD_BYTES = 4_096;

/** Media extensions whose files are the same container. Which of them it is only the name tells. */
const CONTAINERS: Readonly<Record<string, Signature>> = {
  wav: 'wave',
  avi: 'avi',
  mp3: 'mp3',
  flac: 'flac',
  opus: 'ogg',
  ogg: 'ogg',
  ogv: 'ogg',
  m4a: 'mp4',
  mp4: 'mp4',
  mov: 'mp4',
  mkv: 'matroska',
  webm: 'matroska',
  mpg: 'mpeg',
  mpeg: 'mpeg',
};

const IMAGES: Readonly<Partial<Record<Signature, string>>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

type Signature =
  | 'png'
  | 'jpeg'
  | 'gif'
  | 'webp'
  | 'wave'
  | 'avi'
  | 'mp3'
  | 'flac'
  | 'ogg'
  | 'mp4'
  | 'matroska'
  | 'mpeg'
  | 'pdf'
  | 'zip'
  | 'ole';

/**
 * Decides what a file is from its first bytes, and refuses one whose name says something else. Text is not decided here:
 * decoding tells whether it is any.
 */
export function identify(name: string, head: Uint8Array): Identity {
  if (head.length === 0) throw new Refusal('is empty');
  if (/(^|[/\\])package-lock\.json$/i.test(name)) throw new Refusal('is a list of versions, which nobody reads');
  const claim = claimOf(name);
  if (claim === undefined) throw new Refusal(`has a type that is not supported: .${extensionOf(name).slice(0, 20)}`);
  return check(claim, signatureOf(head));
}

function check(claim: Claim, signature: Signature | undefined): Identity {
  switch (claim.kind) {
    case 'image': {
      // The right type matters when it is served, a wrong extension among images does not.
      const mimeType = signature === undefined ? undefined : IMAGES[signature];
      if (mimeType === undefined) throw new Refusal('is not an image, though its name says so');
      return { kind: 'image', mimeType };
    }
    case 'audio':
    case 'video':
      if (CONTAINERS[claim.extension] !== signature) throw new Refusal(`is not ${claim.kind}, though its name says so`);
      return { kind: claim.kind, mimeType: claim.mimeType };
    case 'pdf':
      if (signature !== 'pdf') throw new Refusal('is not a PDF, though its name says so');
      return { kind: 'pdf' };
    case 'package':
      if (signature === 'ole') throw new Refusal('is protected by a password, or of an Office version before 2007');
      if (signature !== 'zip') throw new Refusal('is not a document, though its name says so');
      return { kind: 'package' };
    case 'zip':
      if (signature !== 'zip') throw new Refusal('is not a zip, though its name says so');
      return { kind: 'zip' };
    default:
      return { kind: claim.kind };
  }
}

/** The magic numbers of the types that are taken in, and of those that are often mistaken for them. */
function signatureOf(head: Uint8Array): Signature | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 1_024)).toString('latin1');
  const starts = (prefix: string): boolean => text.startsWith(prefix);
  if (starts('\x89PNG\r\n\x1a\n')) return 'png';
  if (starts('\xff\xd8\xff')) return 'jpeg';
  if (starts('GIF87a') || starts('GIF89a')) return 'gif';
  if (starts('RIFF')) return RIFF[text.slice(8, 12)];
  if (starts('PK\x03\x04') || starts('PK\x05\x06')) return 'zip';
  if (starts('OggS')) return 'ogg';
  if (starts('fLaC')) return 'flac';
  if (text.slice(4, 8) === 'ftyp') return 'mp4';
  if (starts('\x1a\x45\xdf\xa3')) return 'matroska';
  if (starts('\x00\x00\x01\xba') || starts('\x00\x00\x01\xb3')) return 'mpeg';
  if (starts('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return 'ole';
  // A tag, or a frame of layer III (ISO/IEC 11172-3 §2.4.1.3): eleven set bits, a version, then 01.
  if (starts('ID3') || /^\xff[\xe2\xe3\xf2\xf3\xfa\xfb]/.test(text)) return 'mp3';
  // QuickTime files of before `ftyp` begin with one of these atoms.
  if (['moov', 'mdat', 'wide', 'free', 'skip'].includes(text.slice(4, 8))) return 'mp4';
  // Readers accept up to a kilobyte before it (PDF 1.7, implementation note 13).
  if (text.includes('%PDF-')) return 'pdf';
  return undefined;
}

const RIFF: Readonly<Record<string, Signature>> = { WEBP: 'webp', WAVE: 'wave', 'AVI ': 'avi' };
