import type { JSONObject, TranscriptionModelV4 } from '@ai-sdk/provider';
import type { ProviderConfig } from '../../config/config.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Model } from '../../core/model.ts';
import type { Provider } from '../../core/provider.ts';
import { toSegments } from '../../core/timed-text.ts';
import type { TimedText, Transcript, TranscriptionRequest } from '../../core/transcription.ts';
import { keyFor } from '../about.ts';
import { thrownFailure } from '../ai-sdk/failure.ts';
import type { SpeechConnection, SpeechDeps } from './connection.ts';
import { jsonFetch } from './json-fetch.ts';

/** What the file of a vendor that listens says about it. */
export interface ListenSpec {
  /** Where its library sends requests; the configuration may name another address. */
  readonly origin: string;
  /** The first is the default. */
  readonly models: readonly string[];
  /** Loads the library, on first use, and connects it. */
  open(connection: SpeechConnection): Promise<(model: string) => TranscriptionModelV4>;
  /** What the library wants to have of a request. `drop` is told of what it has no place for. */
  toOptions(request: TranscriptionRequest, drop: (field: string) => void): JSONObject;
  /** What the vendor said beyond what its library reads. */
  read?(answer: unknown): Partial<Transcript>;
  /** A failure that the library words by itself. */
  failure?(thrown: unknown): SluiceError | undefined;
}

/** `transcribe` through one of the AI SDK's vendor libraries (`TranscriptionModelV4`). */
export function listenBySdk(
  name: string,
  spec: ListenSpec,
  config: ProviderConfig,
  deps: SpeechDeps,
): NonNullable<Provider['transcribe']> {
  return async (request, call) => {
    if (request.task === 'translate') {
      throw new SluiceError('not_supported', `${config.label} transcribes audio, and does not translate it.`);
    }
    const apiKey = keyFor(config, call.credentials);
    const speaker = { label: config.label, secrets: [apiKey] };
    const fetch = jsonFetch(deps.fetch, speaker, { from: spec.origin, to: config.baseUrl ?? spec.origin });
    const model = await spec.open({ apiKey, headers: { ...config.headers }, fetch });
    const { bytes, mimeType } = request.recording;
    const options = spec.toOptions(request, (field) => call.drop(field));
    try {
      const answer = await model(modelOf(request, spec, config)).doGenerate({
        audio: bytes,
        mediaType: mimeType,
        abortSignal: call.signal,
        ...(Object.keys(options).length === 0 ? {} : { providerOptions: { [name]: options } }),
      });
      return { kind: 'whole', transcript: toTranscript(answer, spec) };
    } catch (thrown) {
      throw spec.failure?.(thrown) ?? thrownFailure(speaker, thrown);
    }
  };
}

/** The models of a vendor that listens. */
export function listenModels(spec: ListenSpec): readonly Model[] {
  return spec.models.map((id) => ({ id, type: 'transcription', audio: true }));
}

/** Fields of the form that a library has options for: from the form's name to the library's, with what the value is. */
export type FieldNames = Readonly<
  Record<string, readonly [option: string, kind: 'text' | 'texts' | 'boolean' | 'number']>
>;

/** What a form says beyond the usual, as options; `drop` is told of the rest. */
export function toFurtherOptions(
  { extra }: TranscriptionRequest,
  names: FieldNames,
  drop: (field: string) => void,
): JSONObject {
  const options: Record<string, JSONObject[string]> = {};
  for (const [field, values] of Object.entries(extra)) {
    const found = Object.hasOwn(names, field) ? names[field] : undefined;
    const [first = ''] = values;
    if (found === undefined) drop(field);
    else if (found[1] === 'texts') options[found[0]] = [...values];
    else if (found[1] === 'boolean') options[found[0]] = /^(true|1)$/i.test(first);
    else options[found[0]] = found[1] === 'number' ? Number(first) : first;
  }
  return options;
}

/** The name travels into paths and queries. */
function modelOf(request: TranscriptionRequest, spec: ListenSpec, { label }: ProviderConfig): string {
  const model = request.model === '' ? (spec.models[0] ?? '') : request.model;
  if (/^[A-Za-z0-9][\w.-]{0,127}$/.test(model)) return model;
  throw new SluiceError('model_not_found', `${label} has no model of that name.`, { param: 'model' });
}

function toTranscript(answer: Awaited<ReturnType<TranscriptionModelV4['doGenerate']>>, spec: ListenSpec): Transcript {
  const { text, language, durationInSeconds: seconds } = answer;
  const timed = answer.segments.map(
    ({ text: word, startSecond: start, endSecond: end }): TimedText => ({ text: word, start, end }),
  );
  const said = spec.read?.(answer.response.body) ?? {};
  const words = said.words ?? timed.filter((word) => word.text.trim() !== '');
  return {
    text,
    words,
    segments: toSegments(words),
    ...(language === undefined ? {} : { language }),
    ...(seconds === undefined ? {} : { seconds }),
    ...said,
  };
}

/** For `toOptions`: fields of OpenAI's form that most of these vendors do not know. */
export function dropPromptAndTemperature(
  { prompt, temperature }: TranscriptionRequest,
  drop: (field: string) => void,
): void {
  if (prompt !== undefined) drop('prompt');
  if (temperature !== undefined) drop('temperature');
}
