import { kindOf } from '../media/kind.ts';
import { Refusal } from './conversion.ts';
import { type Claim, claimOf, extensionOf } from './file-types.ts';

/**
 * What a file is, its bytes and its name taken together. `package` is a zip that has to be a document, `zip` one that may be
 * any: its members tell.
 */
export type Identity =
  | { readonly kind: 'text' | 'html' | 'csv' | 'notebook' | 'mail' | 'pdf' | 'rtf' | 'package' | 'zip' }
  | { readonly kind: 'image'; readonly mimeType: string }
  | { readonly kind: 'audio' | 'video'; readonly mimeType: string };

/** Media extensions whose files are the same container. Which of them it is only the name tells. */
const CONTAINERS: Readonly<Record<string, string>> = {
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

/**
 * Decides what a file is from its first bytes, and refuses one whose name says something else. Text is not decided here:
 * decoding tells whether it is any.
 */
export function identify(name: string, head: Uint8Array): Identity {
  if (head.length === 0) throw new Refusal('is empty');
  if (/(^|[/\\])package-lock\.json$/i.test(name)) throw new Refusal('is a list of versions, which nobody reads');
  const claim = claimOf(name);
  if (claim === undefined) throw new Refusal(`has a type that is not supported: .${extensionOf(name).slice(0, 20)}`);
  return check(claim, head);
}

function check(claim: Claim, head: Uint8Array): Identity {
  const media = kindOf(head);
  switch (claim.kind) {
    case 'image':
      // The right type matters when it is served, a wrong extension among images does not.
      if (media?.kind !== 'image') throw new Refusal('is not an image, though its name says so');
      return { kind: 'image', mimeType: media.mimeType };
    case 'audio':
    case 'video':
      if (media !== undefined && CONTAINERS[claim.extension] === CONTAINERS[media.extension])
        return { kind: claim.kind, mimeType: claim.mimeType };
      // As with images.
      if (media?.kind === claim.kind) return { kind: claim.kind, mimeType: media.mimeType };
      throw new Refusal(`is not ${claim.kind}, though its name says so`);
    default:
      return checkDocument(claim.kind, media === undefined ? signatureOf(head) : undefined);
  }
}

type Document = Exclude<Identity['kind'], 'image' | 'audio' | 'video'>;
type Signature = 'zip' | 'ole' | 'pdf' | 'rtf';

function checkDocument(kind: Document, signature: Signature | undefined): Identity {
  switch (kind) {
    case 'pdf':
      if (signature !== 'pdf') throw new Refusal('is not a PDF, though its name says so');
      break;
    case 'rtf':
      if (signature !== 'rtf') throw new Refusal('is not rich text, though its name says so');
      break;
    case 'package':
      if (signature === 'ole') throw new Refusal('is protected by a password, or of an Office version before 2007');
      if (signature !== 'zip') throw new Refusal('is not a document, though its name says so');
      break;
    case 'zip':
      if (signature !== 'zip') throw new Refusal('is not a zip, though its name says so');
      break;
  }
  return { kind };
}

/** The magic numbers of the documents that are taken in, and of those that are often mistaken for them. */
function signatureOf(head: Uint8Array): Signature | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 1_024)).toString('latin1');
  if (text.startsWith('PK\x03\x04') || text.startsWith('PK\x05\x06')) return 'zip';
  if (text.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return 'ole';
  if (/^\s*\{\\rtf/.test(text)) return 'rtf';
  // Readers accept up to a kilobyte before it (PDF 1.7, implementation note 13).
  return text.includes('%PDF-') ? 'pdf' : undefined;
}
