import { SluiceError } from '../../core/errors.ts';
import type { Provider } from '../../core/provider.ts';
import { SPEECH_TYPES, type SpeechRequest } from '../../core/speech.ts';
import { type EncodedFormat, encoders } from '../../speech/encoders.ts';
import { FLITE_VOICES } from '../../speech/flite.ts';
import { toPieces } from '../../speech/pieces.ts';
import { speakable } from '../../speech/speakable.ts';
import type { Synthesizer, Utterance } from '../../speech/synthesizer.ts';
import { begun } from './begun.ts';

const MODEL = 'flite';
const LABEL = 'Embedded voice (Flite)';
const FORMATS = Object.keys(encoders) as readonly EncodedFormat[];

/** The voice that comes with Sluice: English, on this machine, without any network. Nothing is loaded before the first text. */
export function createFliteProvider(synthesizer: Synthesizer): Provider {
  return {
    id: 'flite',
    label: LABEL,
    origin: 'embedded',
    auth: { kind: 'none' },
    url: 'https://github.com/festvox/flite',
    voices: FLITE_VOICES,
    speechFormats: FORMATS,

    async models() {
      return [{ id: MODEL, label: LABEL, type: 'speech', audio: true, tags: ['local'] }];
    },

    async speech(request, call) {
      const utterance = toUtterance(request);
      for (const field of Object.keys(request.extra)) call.drop(field);
      const body = await begun(synthesizer.speak(utterance, call), LABEL);
      return { mimeType: SPEECH_TYPES[utterance.format], body };
    },
  } satisfies Provider;
}

function toUtterance(request: SpeechRequest): Utterance {
  const format = FORMATS.find((each) => each === request.format);
  if (format === undefined) {
    throw new SluiceError('not_supported', `${LABEL} knows only the formats ${FORMATS.join(', ')}.`, {
      param: 'format',
    });
  }
  if (!['', MODEL].includes(request.model ?? '')) {
    throw new SluiceError('model_not_found', `${LABEL} has one model: ${MODEL}.`, { param: 'model' });
  }
  if (!/^(en\b|$)/i.test(request.language ?? '')) {
    throw new SluiceError('invalid_request', `${LABEL} speaks English only.`, { param: 'language' });
  }
  const pieces = toPieces(speakable(request.text));
  if (pieces.length === 0) {
    throw new SluiceError('invalid_request', `The text has nothing that an English voice could say.`, {
      param: 'text',
    });
  }
  const how = { voice: voiceOf(request.voice), stretch: 1 / (request.speed ?? 1) };
  return { pieces: pieces.map((text) => ({ text, ...how })), format };
}

function voiceOf(asked: string | undefined): string {
  const [standard] = FLITE_VOICES;
  if (asked === undefined) return standard.id;
  const voice = FLITE_VOICES.find(({ id }) => id === asked.toLowerCase());
  if (voice !== undefined) return voice.id;
  const ids = FLITE_VOICES.map(({ id }) => id).join(', ');
  throw new SluiceError('invalid_request', `${LABEL} has no voice of that name; there are ${ids}.`, { param: 'voice' });
}

/** The same provider, which now also speaks, with the voice of another one. */
export function withVoiceOf(provider: Provider, voice: Provider): Provider {
  const { speech, speechFormats, voices } = voice;
  return Object.assign(provider, {
    ...(speech === undefined ? {} : { speech }),
    ...(speechFormats === undefined ? {} : { speechFormats }),
    ...(voices === undefined ? {} : { voices }),
  });
}
