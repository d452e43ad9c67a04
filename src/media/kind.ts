import { type MediaType, mediaTypeOf } from '../core/media-types.ts';

/** Bytes from the start that are enough to tell. */
export const HEAD_BYTES = 4_096;

/** What bytes are: a media type of the contract, and the extension it is stored under. */
export interface MediaKind extends MediaType {
  readonly extension: string;
}

/** Decides by the bytes alone; what a server or a name says does not count. Undefined when they are none of our media. */
export function kindOf(head: Uint8Array): MediaKind | undefined {
  const extension = extensionOf(Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, HEAD_BYTES)));
  const type = extension === undefined ? undefined : mediaTypeOf(`x.${extension}`);
  return extension === undefined || type === undefined ? undefined : { ...type, extension };
}

function extensionOf(head: Buffer): string | undefined {
  const text = head.toString('latin1');
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (text.startsWith('\xff\xd8\xff')) return 'jpg';
  if (/^GIF8[79]a/.test(text)) return 'gif';
  if (text.startsWith('RIFF')) return RIFF[text.slice(8, 12)];
  if (text.startsWith('fLaC')) return 'flac';
  if (text.startsWith('OggS')) return ogg(text);
  if (text.startsWith('\x1a\x45\xdf\xa3')) return text.slice(0, 64).includes('webm') ? 'webm' : 'mkv';
  if (['\x00\x00\x01\xba', '\x00\x00\x01\xb3'].includes(text.slice(0, 4))) return 'mpg';
  if (text.slice(4, 8) === 'ftyp') return isoMedia(text.slice(8, 12));
  if (isQuickTime(head)) return 'mov';
  if (text.startsWith('ID3') || isMp3Frame(head)) return 'mp3';
  return undefined;
}

const RIFF: Readonly<Record<string, string>> = { WEBP: 'webp', WAVE: 'wav', 'AVI ': 'avi' };

/** The first packet names the codec (RFC 7845 §5.1 for Opus; Theora's and others' likewise). */
function ogg(text: string): string {
  if (text.slice(0, 64).includes('OpusHead')) return 'opus';
  return text.slice(0, 512).includes('\x80theora') ? 'ogv' : 'ogg';
}

/** The major brand (ISO/IEC 14496-12 §4.3). Still pictures of the family (avif, heic) are none of our types. */
function isoMedia(brand: string): string | undefined {
  if (brand === 'qt  ') return 'mov';
  if (/^M4[AB] $/.test(brand)) return 'm4a';
  return /^(avif|avis|hei|hev|mif1|msf1|crx |jp)/.test(brand) ? undefined : 'mp4';
}

/** QuickTime before it had `ftyp`: one of these atoms, behind its length. Behind letters they are words of a text. */
function isQuickTime(head: Buffer): boolean {
  const [length = 0xff] = head;
  return length < 0x20 && ['moov', 'mdat', 'wide', 'free', 'skip'].includes(head.toString('latin1', 4, 8));
}

/** A frame header of layer III with a bit rate and sampling rate that exist (ISO/IEC 11172-3 §2.4.1.3). */
function isMp3Frame(head: Buffer): boolean {
  const [first = 0, second = 0, third = 0] = head;
  const isLayer3 = first === 0xff && (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08;
  return isLayer3 && third >> 4 !== 0x0f && third >> 4 !== 0 && (third & 0x0c) !== 0x0c;
}
