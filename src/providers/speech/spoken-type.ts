import { SluiceError } from '../../core/errors.ts';
import { SPEECH_TYPES, type SpeechFormat } from '../../core/speech.ts';

const AUDIO = /^audio\/[\w.+-]{1,64}(\s*;\s*[\w-]{1,32}="?[\w.,+-]{1,32}"?){0,4}$/i;

/**
 * The content type of spoken audio: the upstream's own word where it names one, since it may have chosen another format,
 * else that of the format that was asked for. Returns the error when what came is no audio.
 */
export function spokenType(
  contentType: string | null | undefined,
  format: SpeechFormat,
  label: string,
): string | SluiceError {
  const given = (contentType ?? '').trim();
  if (AUDIO.test(given)) {
    // `audio/pcm` alone would not say how fast to play it.
    return /^audio\/pcm$/i.test(given) && format === 'pcm' ? SPEECH_TYPES.pcm : given;
  }
  if (given === '' || /^(application\/octet-stream|binary\/octet-stream)\b/i.test(given)) return SPEECH_TYPES[format];
  const type = given.split(';', 1)[0]?.slice(0, 100);
  return new SluiceError('upstream_invalid', `${label} answered with ${type} instead of audio.`);
}
