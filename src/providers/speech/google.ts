import type { JSONObject, SpeechModelV4 } from '@ai-sdk/provider';
import type { ProviderConfig } from '../../config/config.ts';
import type { Call } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import { isObject, membersOf } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import { SPEECH_TYPES, type Speech, type SpeechFormat, type SpeechRequest } from '../../core/speech.ts';
import { type EncodedFormat, encoders } from '../../speech/encoders.ts';
import type { Sound } from '../../speech/protocol.ts';
import type { Synthesizer } from '../../speech/synthesizer.ts';
import { keyFor } from '../about.ts';
import { thrownFailure } from '../ai-sdk/failure.ts';
import { begun } from './begun.ts';
import { jsonFetch } from './json-fetch.ts';

const BASE_URL = 'https://generativelanguage.googleapis.com/v1beta';
const FORMATS = Object.keys(encoders) as readonly EncodedFormat[];
/** Samples a second of raw samples, as clients expect them and as Google sends them unless it says otherwise. */
const PCM_RATE = 24_000;
/** What Google calls its samples, and the file that newer models make of them when asked to. */
const SAMPLES = /^audio\/(l16|pcm)\b/i;
const WAV = /^audio\/(x-)?wave?\b/i;
/** Seconds of sound that become a file at a time. */
const PIECE_SECONDS = 5;
/** What its library takes beyond the common options: several speakers, and how each turn is to be said. */
const OPTIONS: readonly string[] = ['multiSpeakerVoiceConfig', 'speechMetadata', 'turns'];

interface GoogleSpeechDeps {
  readonly fetch: typeof fetch;
  readonly synthesizer: Synthesizer;
}

/**
 * The same provider, which now also speaks, with Gemini's models that do nothing else. Google sends bare samples, and all of
 * them at once (https://ai.google.dev/gemini-api/docs/speech-generation); the thread that speaks makes files of them.
 */
export function withGoogleSpeech(provider: Provider, config: ProviderConfig, deps: GoogleSpeechDeps): Provider {
  const { label, baseUrl = BASE_URL } = config;

  async function ask(request: SpeechRequest, outputFormat: 'wav' | 'pcm', call: Call): Promise<Spoken> {
    const model = (request.model ?? '').replace(/^models\//, '');
    if (!/^[A-Za-z0-9][\w.-]{0,127}$/.test(model)) {
      throw new SluiceError('model_not_found', `${label} has no model of that name.`, { param: 'model' });
    }
    const apiKey = keyFor(config, call.credentials);
    const speaker = { label, secrets: [apiKey] };
    const fetch = jsonFetch(deps.fetch, speaker, { from: baseUrl, to: baseUrl });
    const { createGoogle } = await import('@ai-sdk/google');
    const google = createGoogle({ baseURL: baseUrl, apiKey, headers: { ...config.headers }, fetch });
    try {
      return await google.speech(model).doGenerate({
        text: request.text,
        outputFormat,
        abortSignal: call.signal,
        ...(request.voice ? { voice: request.voice } : {}),
        ...(request.language === undefined ? {} : { language: request.language }),
        ...optionsOf(request, call),
      });
    } catch (thrown) {
      throw thrownFailure(speaker, thrown);
    }
  }

  async function speech(request: SpeechRequest, call: Call): Promise<Speech> {
    const format = FORMATS.find((each) => each === request.format);
    if (format === undefined) {
      throw new SluiceError('not_supported', `${label} knows only the formats ${FORMATS.join(', ')}.`, {
        param: 'format',
      });
    }
    const spoken = await ask(request, format === 'wav' ? 'wav' : 'pcm', call);
    const { audio } = spoken;
    if (typeof audio === 'string' || audio.length === 0) throw nothingSpoken(spoken, label);
    const { sampleRate, mimeType: sent } = membersOf(spoken.providerMetadata?.['google']);
    if (typeof sent === 'string' && !SAMPLES.test(sent) && !(format === 'wav' && WAV.test(sent))) {
      throw new SluiceError('upstream_invalid', `${label} answered with ${sent.slice(0, 100)} instead of samples.`);
    }
    const rate = Number(sampleRate) || PCM_RATE;
    const mimeType = SPEECH_TYPES[format];
    if (format === 'wav' || (format === 'pcm' && rate === PCM_RATE)) return { mimeType, body: oneOf(audio) };
    const made = deps.synthesizer.speak({ pieces: toPieces(audio, rate), format }, call);
    return { mimeType, body: await begun(made, label) };
  }

  const speechFormats: readonly SpeechFormat[] = FORMATS;
  return Object.assign(provider, { speech, speechFormats } satisfies Pick<Provider, 'speech' | 'speechFormats'>);
}

type Spoken = Awaited<ReturnType<SpeechModelV4['doGenerate']>>;

/** How it shall sound; what Google's models have no place for is told. */
function optionsOf({ speed, extra }: SpeechRequest, call: Call) {
  if (speed !== undefined && speed !== 1) call.drop('speed');
  const { instructions, ...others } = extra;
  const options: JSONObject = {};
  for (const [field, value] of Object.entries(others)) {
    if (OPTIONS.includes(field) && (isObject(value) || Array.isArray(value))) options[field] = value as JSONObject;
    else call.drop(field);
  }
  return {
    ...(typeof instructions === 'string' ? { instructions } : {}),
    ...(Object.keys(options).length === 0 ? {} : { providerOptions: { google: options } }),
  };
}

/** An answer without sound: it was refused, or the model wrote instead of speaking. */
function nothingSpoken({ response }: Spoken, label: string): SluiceError {
  const { promptFeedback, candidates } = membersOf(response.body);
  const [candidate] = Array.isArray(candidates) ? candidates : [];
  const reason = membersOf(promptFeedback)['blockReason'] ?? membersOf(candidate)['finishReason'];
  if (typeof reason !== 'string' || reason === 'STOP') {
    return new SluiceError('upstream_invalid', `${label} answered without any audio.`);
  }
  return new SluiceError('invalid_request', `${label} does not read this aloud: ${reason.slice(0, 100)}.`);
}

/** Each in a buffer of its own, since the whole buffer of a view would go to the thread with it. */
function toPieces(audio: Uint8Array, rate: number): Sound[] {
  const size = 2 * rate * PIECE_SECONDS;
  const count = Math.ceil(audio.length / size);
  return Array.from({ length: count }, (_, index) => ({
    samples: audio.slice(index * size, (index + 1) * size),
    rate,
  }));
}

async function* oneOf(audio: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield audio;
}
