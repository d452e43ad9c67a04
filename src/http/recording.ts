import { SluiceError } from '../core/errors.ts';
import type { Recording } from '../core/transcription.ts';
import { HEAD_BYTES, kindOf } from '../media/kind.ts';

/** By the extension that the bytes deserve: the type, and the extension under which upstreams know it. */
const TYPES: Readonly<Record<string, readonly [mimeType: string, extension: string]>> = {
  wav: ['audio/wav', 'wav'],
  mp3: ['audio/mpeg', 'mp3'],
  flac: ['audio/flac', 'flac'],
  ogg: ['audio/ogg', 'ogg'],
  opus: ['audio/ogg', 'ogg'],
  m4a: ['audio/mp4', 'm4a'],
  mp4: ['audio/mp4', 'mp4'],
  mov: ['audio/mp4', 'mp4'],
  webm: ['audio/webm', 'webm'],
  mkv: ['audio/webm', 'webm'],
  mpg: ['audio/mpeg', 'mpeg'],
  aac: ['audio/aac', 'aac'],
  aiff: ['audio/aiff', 'aiff'],
  amr: ['audio/amr', 'amr'],
};

/** What the bytes of a file are, if they can be listened to; its name does not count. */
export function recordingOf(bytes: Buffer): Recording | undefined {
  const head = bytes.subarray(0, HEAD_BYTES);
  const [mimeType, extension] = TYPES[kindOf(head)?.extension ?? otherAudio(head) ?? ''] ?? [];
  if (mimeType === undefined || extension === undefined) return undefined;
  return { bytes, mimeType, filename: `recording.${extension}` };
}

/** The same; anything else is refused. */
export function parseRecording(bytes: Buffer): Recording {
  if (bytes.length === 0) throw new SluiceError('invalid_request', "The part 'file' is empty.", { param: 'file' });
  const recording = recordingOf(bytes);
  if (recording !== undefined) return recording;
  throw new SluiceError(
    'unsupported_media_type',
    'The file is no recording that Sluice knows: send mp3, wav, flac, ogg, opus, m4a, mp4, webm, aac, aiff or amr.',
    { param: 'file' },
  );
}

/** Recordings that are not served as media, so that nothing else has to know them. */
function otherAudio(head: Buffer): string | undefined {
  const text = head.toString('latin1', 0, 12);
  // Frames of AAC by themselves (ISO/IEC 13818-7 §6.2.1): twelve set bits, a version, layer 0.
  if (/^\xff[\xf0\xf1\xf8\xf9]/.test(text)) return 'aac';
  if (text.startsWith('FORM') && /AIF[FC]$/.test(text)) return 'aiff';
  return text.startsWith('#!AMR') ? 'amr' : undefined;
}
