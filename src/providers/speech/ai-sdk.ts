import type { JSONObject, SpeechModelV4 } from '@ai-sdk/provider';
import type { ProviderConfig } from '../../config/config.ts';
import type { Call } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import type { AuthNeed, Provider } from '../../core/provider.ts';
import { SPEECH_FORMATS, type SpeechFormat, type SpeechRequest } from '../../core/speech.ts';
import { type Speaker, thrownFailure } from '../ai-sdk/failure.ts';
import { begun } from './begun.ts';
import { fetchAudio } from './fetch-audio.ts';
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
  /** What the library wants to have of the options; as they are when absent. */
  toOptions?(options: JSONObject, request: SpeechRequest): JSONObject;
}

export interface SpeechConnection {
  readonly apiKey: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof fetch;
}

export interface SpeechDeps {
  readonly fetch: typeof fetch;
}

/** A provider that only speaks, through one of the AI SDK's vendor libraries (`SpeechModelV4`). */
export function fromSpeechSdk(name: string, spec: SpeechSpec): (config: ProviderConfig, deps: SpeechDeps) => Provider {
  const formats = SPEECH_FORMATS.filter((format) => spec.formats[format] !== undefined);
  return (config, deps) => ({
    id: config.id,
    label: config.label,
    origin: config.origin,
    auth: authNeed(config),
    ...(config.url === undefined ? {} : { url: config.url }),
    ...(config.loginUrl === undefined ? {} : { loginUrl: config.loginUrl }),
    ...(config.defaultModel === undefined ? {} : { defaultModel: config.defaultModel }),
    speechFormats: formats,

    async models() {
      return (config.models ?? spec.models).map((id) => ({ id, type: 'speech', audio: true }));
    },

    async speech(request, call) {
      const speaker = { label: config.label, secrets: [keyFor(config, call)] };
      try {
        return await speak(name, spec, config, deps, request, call, speaker);
      } catch (thrown) {
        if (call.cancelled !== undefined) throw call.cancelled;
        throw thrownFailure(speaker, thrown);
      }
    },
  });
}

async function speak(
  name: string,
  spec: SpeechSpec,
  config: ProviderConfig,
  deps: SpeechDeps,
  request: SpeechRequest,
  call: Call,
  speaker: Speaker,
): ReturnType<NonNullable<Provider['speech']>> {
  const { format } = request;
  const outputFormat = spec.formats[format];
  if (outputFormat === undefined) {
    throw new SluiceError('not_supported', `${config.label} does not know the format ${format}.`, { param: 'format' });
  }
  const fetch = fetchAudio(deps.fetch, speaker, { from: spec.origin, to: config.baseUrl ?? spec.origin });
  const model = await spec.open({ apiKey: keyFor(config, call), headers: { ...config.headers }, fetch: fetch.fetch });
  const voice = nameOf('voice', request.voice, spec.voice, config.label);
  const options = optionsOf(spec, request);
  await model(nameOf('model', request.model, config.defaultModel ?? spec.models[0], config.label) ?? '').doGenerate({
    text: request.text,
    outputFormat,
    abortSignal: call.signal,
    ...(voice === undefined ? {} : { voice }),
    ...(request.speed === undefined ? {} : { speed: request.speed }),
    ...(request.language === undefined ? {} : { language: request.language }),
    ...(typeof request.extra['instructions'] === 'string' ? { instructions: request.extra['instructions'] } : {}),
    ...(Object.keys(options).length === 0 ? {} : { providerOptions: { [name]: options } }),
  });
  const answer = fetch.answer();
  const mimeType = spokenType(answer.contentType, format, config.label);
  const body = await begun(answer.bytes(call));
  if (typeof mimeType === 'string') return { mimeType, body };
  await body[Symbol.asyncIterator]().return?.();
  throw mimeType;
}

/** Names travel into paths and queries. */
function nameOf(
  what: 'voice' | 'model',
  asked: string | undefined,
  otherwise: string | undefined,
  label: string,
): string | undefined {
  if (asked === undefined || asked === '') return otherwise;
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
  const text = String(value);
  return /^-?\d{1,12}(\.\d{1,12})?$/.test(text) ? Number(text) : text;
}

function keyFor(config: ProviderConfig, call: Call): string {
  const apiKey = call.credentials.apiKey ?? config.apiKey ?? '';
  const variable = config.keyVariable === undefined ? '' : `set ${config.keyVariable} or `;
  if (apiKey === '') {
    throw new SluiceError(
      'missing_credentials',
      `${config.label} needs an API key: ${variable}add apiKey to its entry in sluice.yaml`,
    );
  }
  // Anything else would make fetch refuse the header, in words that quote the key.
  if (/^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new SluiceError('missing_credentials', `The API key for ${config.label} holds characters that no key has.`);
}

function authNeed(config: ProviderConfig): AuthNeed {
  const { apiKey, keyVariable: variable } = config;
  return { kind: 'api_key', configured: apiKey !== undefined, ...(variable === undefined ? {} : { variable }) };
}
