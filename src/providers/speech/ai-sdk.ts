import type { JSONObject, SpeechModelV4 } from '@ai-sdk/provider';
import type { ProviderConfig } from '../../config/config.ts';
import type { Call } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Model } from '../../core/model.ts';
import { defined, wordsOf } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import { SPEECH_FORMATS, type SpeechFormat, type SpeechRequest } from '../../core/speech.ts';
import { aboutOf, keyFor } from '../about.ts';
import { thrownFailure } from '../ai-sdk/failure.ts';
import { begun } from './begun.ts';
import type { SpeechConnection, SpeechDeps } from './connection.ts';
import { fetchAudio } from './fetch-audio.ts';
import { type ListenSpec, listenBySdk, listenModels } from './listen-sdk.ts';
import { spokenType } from './spoken-type.ts';

/** What the file of a vendor that only speaks says about it. */
export interface SpeechSpec {
  /** Where its library sends requests; the configuration may name another address. */
  readonly origin: string;
  /** The first is the default. */
  readonly models: readonly string[];
  /** Used where the vendor insists on a voice; else its library or the vendor itself has one. */
  readonly voice?: string;
  /** The formats that it knows, and what its library calls them. */
  readonly formats: Partial<Record<SpeechFormat, string>>;
  /** Options of its library, beyond those that every vendor knows, that a request may set. */
  readonly options?: readonly string[];
  /** Loads the library, on first use, and connects it. */
  open(connection: SpeechConnection): Promise<(model: string) => SpeechModelV4>;
  /** Whether it takes instructions how to speak. */
  readonly instructions?: true;
  /** It listens, too. */
  readonly listen?: ListenSpec;
  /** What the library wants to have of the options; as they are when absent. */
  toOptions?(options: JSONObject, request: SpeechRequest): JSONObject;
}

/** A provider that only speaks, through one of the AI SDK's vendor libraries (`SpeechModelV4`). */
export function fromSpeechSdk(name: string, spec: SpeechSpec): (config: ProviderConfig, deps: SpeechDeps) => Provider {
  const formats = SPEECH_FORMATS.filter((format) => spec.formats[format] !== undefined);
  const { listen } = spec;
  const heard = listen === undefined ? [] : listenModels(listen);
  const isHeard = (id: string): boolean => heard.some((model) => model.id === id);
  return (config, deps) => ({
    ...aboutOf(config),
    speechFormats: formats,

    async models() {
      if (config.models === undefined) return [...spec.models.map(toModel), ...heard];
      return config.models.map((id) => (isHeard(id) ? { id, type: 'transcription', audio: true } : toModel(id)));
    },

    ...(listen === undefined ? {} : { transcribe: listenBySdk(name, listen, config, deps) }),

    speech: speakBySdk(name, spec, config, deps),
  });
}

function toModel(id: string): Model {
  return { id, type: 'speech', audio: true };
}

/** `speech` through one of the AI SDK's vendor libraries. */
function speakBySdk(
  name: string,
  spec: SpeechSpec,
  config: ProviderConfig,
  deps: SpeechDeps,
): NonNullable<Provider['speech']> {
  const { label } = config;
  return async (request, call) => {
    const { format, text, speed, language, extra } = request;
    const apiKey = keyFor(config, call.credentials);
    const speaker = { label, secrets: [apiKey] };
    try {
      const outputFormat = spec.formats[format];
      if (outputFormat === undefined) {
        throw new SluiceError('not_supported', `${label} does not know the format ${format}.`, { param: 'format' });
      }
      const audio = fetchAudio(deps.fetch, speaker, { from: spec.origin, to: config.baseUrl ?? spec.origin });
      const model = await spec.open({ apiKey, headers: { ...config.headers }, fetch: audio.fetch });
      const voice = nameOf('voice', request.voice, spec.voice, label);
      const options = optionsOf(spec, request);
      for (const field of Object.keys(extra)) {
        if (field !== 'instructions' && !spec.options?.includes(field)) call.drop(field);
      }
      await model(nameOf('model', request.model, config.defaultModel ?? spec.models[0], label) ?? '').doGenerate({
        text,
        outputFormat,
        abortSignal: call.signal,
        ...defined({ voice, speed, language }),
        ...instructionsOf(spec, request, call),
        ...(Object.keys(options).length === 0 ? {} : { providerOptions: { [name]: options } }),
      });
      const answer = audio.answer();
      const mimeType = spokenType(answer.contentType, format, label);
      const body = await begun(answer.bytes(), label);
      if (typeof mimeType === 'string') return { mimeType, body };
      await body[Symbol.asyncIterator]().return?.();
      throw mimeType;
    } catch (thrown) {
      throw thrownFailure(speaker, thrown);
    }
  };
}

/** How it shall sound, in words: none of these vendors but one has a place for them. */
function instructionsOf(spec: SpeechSpec, { extra }: SpeechRequest, call: Call): { instructions?: string } {
  const { instructions } = extra;
  if (typeof instructions !== 'string') return {};
  if (spec.instructions === true) return { instructions };
  call.drop('instructions');
  return {};
}

/** Names travel into paths and queries. */
function nameOf(
  what: 'voice' | 'model',
  asked: string | undefined,
  otherwise: string | undefined,
  label: string,
): string | undefined {
  if (asked === undefined) return otherwise;
  if (/^[A-Za-z0-9][\w.-]{0,127}$/.test(asked)) return asked;
  const code = what === 'model' ? 'model_not_found' : 'invalid_request';
  throw new SluiceError(code, `${label} has no ${what} of that name.`, { param: what });
}

function optionsOf(spec: SpeechSpec, request: SpeechRequest): JSONObject {
  const known = (spec.options ?? []).filter((name) => Object.hasOwn(request.extra, name));
  const options = Object.fromEntries(known.map((name) => [name, fromText(request.extra[name])]));
  return spec.toOptions?.(options, request) ?? options;
}

/** A query has only texts. */
function fromText(value: unknown): JSONObject[string] {
  if (value === 'true' || value === true) return true;
  if (value === 'false' || value === false) return false;
  if (typeof value === 'number') return value;
  const text = wordsOf(value);
  return /^-?\d{1,12}(\.\d{1,12})?$/.test(text) ? Number(text) : text;
}
