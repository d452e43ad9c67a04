import { SluiceError } from '../core/errors.ts';
import type { Provider } from '../core/provider.ts';
import type { SpeechFormat } from '../core/speech.ts';

/** The names under which clients accept each format. */
const NAMES: Readonly<Record<SpeechFormat, readonly string[]>> = {
  mp3: ['audio/mpeg', 'audio/mp3'],
  ogg: ['audio/ogg', 'audio/vorbis'],
  opus: ['audio/opus', 'audio/ogg'],
  wav: ['audio/wav', 'audio/wave', 'audio/x-wav', 'audio/vnd.wave'],
  aac: ['audio/aac', 'audio/x-aac', 'audio/aacp'],
  flac: ['audio/flac', 'audio/x-flac'],
  pcm: ['audio/pcm'],
};

/** One entry of an `Accept` header. */
interface Range {
  readonly type: string;
  readonly codecs: string | undefined;
  readonly quality: number;
}

/**
 * The format of an answer: the one asked for, else the best of those that `Accept` allows (RFC 9110 §12.5.1), the
 * provider's favourite among equals. A client that accepts no audio at all did not mean to choose.
 */
export function chooseFormat(
  provider: Provider,
  asked: SpeechFormat | undefined,
  accept: string | undefined,
): SpeechFormat {
  const formats = provider.speechFormats ?? [];
  const [favourite = 'mp3'] = formats;
  if (asked !== undefined) {
    if (formats.includes(asked)) return asked;
    throw cannot(`the format ${asked}`, provider);
  }
  const ranges = toRanges(accept ?? '');
  const best = formats
    .map((format) => ({ format, quality: qualityOf(format, ranges) }))
    .reduce((one, other) => (other.quality > one.quality ? other : one), { format: favourite, quality: 0 });
  if (best.quality > 0 || !ranges.some(({ type }) => type.startsWith('audio/'))) return best.format;
  throw cannot('any of the formats in Accept', provider);
}

function cannot(what: string, { label, speechFormats = [] }: Provider): SluiceError {
  const message = `${label} cannot send ${what}; it can send ${speechFormats.join(', ')}.`;
  return new SluiceError('not_supported', message, { param: 'format' });
}

/** The word of the most precise range counts. */
function qualityOf(format: SpeechFormat, ranges: readonly Range[]): number {
  let found = { precision: 0, quality: 0 };
  for (const range of ranges) {
    const precision = precisionOf(format, range);
    if (precision > found.precision) found = { precision, quality: range.quality };
  }
  return found.quality;
}

/** How closely a range describes a format; 0 when it does not. */
function precisionOf(format: SpeechFormat, { type, codecs }: Range): number {
  if (type === '*/*') return 1;
  if (type === 'audio/*') return 2;
  if (!NAMES[format].includes(type)) return 0;
  if (codecs === undefined) return 3;
  const own = format === 'ogg' ? 'vorbis' : format;
  return codecs.includes(own) ? 4 : 0;
}

function toRanges(accept: string): Range[] {
  return accept.split(',').map((entry) => {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const parameter = (name: string): string | undefined =>
      parameters.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
    const quality = Number(parameter('q') ?? 1);
    return { type, codecs: parameter('codecs'), quality: Number.isFinite(quality) ? quality : 1 };
  });
}
