import type { Limits, ProviderConfig } from '../../config/config.ts';
import type { Call, Credentials } from '../../core/call.ts';
import type { ChatRequest } from '../../core/chat.ts';
import type { Batch, Chunk } from '../../core/chunk.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Model } from '../../core/model.ts';
import type { Provider, Relay, RelayTarget } from '../../core/provider.ts';
import { type Body, open, type UpstreamResponse } from '../../outbound/body.ts';
import type { UpstreamClient } from '../../outbound/upstream.ts';
import { ChatDecoder, decodeCompletion } from './decode.ts';
import { encodeRequest } from './encode.ts';
import { EventReader, looksLikeEvents } from './events.ts';
import { failureOfStatus } from './failure.ts';
import { capabilitiesOf, parseModels } from './models.ts';

/** Bytes of an error answer or a listing that are read. */
const ERROR_BYTES = 64 * 1024;
const LISTING_BYTES = 16 * 1024 * 1024;

type AnswerLimits = Pick<Limits, 'sseLineBytes' | 'answerBytes'>;

export interface OpenAiDeps {
  readonly client: UpstreamClient;
  readonly limits: () => AnswerLimits;
}

/** A provider for any upstream that speaks the wire format of OpenAI's chat completions. */
export function createOpenAiProvider(
  config: ProviderConfig & { readonly baseUrl: string },
  deps: OpenAiDeps,
): Provider {
  const base = new URL(config.baseUrl);
  const basePath = base.pathname.replace(/\/$/, '') + base.search;
  const common: Record<string, string> = { ...config.headers };
  const configured = headersFor(config.apiKey);

  function headersFor(apiKey: string | undefined): Readonly<Record<string, string>> {
    const headers = { ...common, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    if (apiKey === undefined) return headers;
    if (config.keyHeader === 'authorization') return { ...headers, authorization: `Bearer ${apiKey}` };
    return { ...headers, [config.keyHeader]: apiKey };
  }

  function target(endpoint: string, credentials: Credentials): RelayTarget {
    const apiKey = credentials.apiKey ?? config.apiKey;
    if (apiKey === undefined && config.needsKey) throw missingKey(config);
    return {
      origin: base.origin,
      path: basePath + endpoint,
      headers: credentials.apiKey === undefined ? configured : headersFor(credentials.apiKey),
    };
  }

  const relay: Relay = { target };

  async function* chat(request: ChatRequest, call: Call): AsyncIterable<Batch> {
    const body = JSON.stringify(encodeRequest(request, true));
    const upstream = { ...target('/chat/completions', call.credentials), method: 'POST', body } as const;
    const response = await open(deps.client, upstream, call.signal);
    if (response.status !== 200) throw await failure(response);
    yield* decodeAnswer(response.body, deps.limits());
  }

  async function models(credentials: Credentials, signal: AbortSignal): Promise<readonly Model[]> {
    if (config.models !== undefined) return config.models.map((id) => ({ ...capabilitiesOf(id), id }));
    const listing = target(config.settings['modelsPath'] === undefined ? '/models' : '', credentials);
    const path = config.settings['modelsPath'] ?? listing.path;
    const response = await open(deps.client, { ...listing, path, method: 'GET' }, signal);
    if (response.status !== 200) throw await failure(response);
    const body = await response.body.collect(LISTING_BYTES);
    try {
      return parseModels(JSON.parse(body.toString('utf8')));
    } catch (error) {
      throw new SluiceError('upstream_invalid', "The provider's list of models is not valid JSON.", { cause: error });
    }
  }

  return {
    id: config.id,
    label: config.label,
    origin: config.origin,
    auth: config.needsKey
      ? {
          kind: 'api_key',
          configured: config.apiKey !== undefined,
          ...(config.keyVariable === undefined ? {} : { variable: config.keyVariable }),
        }
      : { kind: 'none' },
    ...(config.url === undefined ? {} : { url: config.url }),
    ...(config.loginUrl === undefined ? {} : { loginUrl: config.loginUrl }),
    ...(config.defaultModel === undefined ? {} : { defaultModel: config.defaultModel }),
    models,
    chat,
    relay,
  };
}

/** What to do about a missing key, in one sentence. */
export function missingKey(config: Pick<ProviderConfig, 'label' | 'keyVariable' | 'id'>): SluiceError {
  const variable = config.keyVariable === undefined ? '' : `set ${config.keyVariable} or `;
  return new SluiceError(
    'missing_credentials',
    `${config.label} needs an API key: ${variable}add apiKey to providers.${config.id} in sluice.yaml, or send api_key with the request.`,
  );
}

/** An answer in either form, as it comes. */
async function* decodeAnswer(body: Body, limits: AnswerLimits): AsyncIterable<Batch> {
  const decoder = new ChatDecoder();
  const reader = new EventReader(limits.sseLineBytes);
  let isStream: boolean | undefined;
  const whole: Buffer[] = [];
  let size = 0;
  for await (const bytes of body) {
    isStream ??= looksLikeEvents(bytes);
    if (isStream === true) {
      const batch: Chunk[] = [];
      for (const data of reader.push(bytes)) decoder.event(data, batch);
      if (decoder.done) {
        decoder.end(batch);
        body.release();
        yield batch;
        return;
      }
      yield batch;
    } else {
      whole.push(bytes);
      size += bytes.length;
      if (size > limits.answerBytes) throw new SluiceError('upstream_invalid', "The provider's answer is too large.");
    }
  }
  if (isStream !== true) {
    yield decodeCompletion(Buffer.concat(whole));
    return;
  }
  const last: Chunk[] = [];
  for (const data of reader.end()) decoder.event(data, last);
  decoder.end(last);
  yield last;
}

async function failure(response: UpstreamResponse): Promise<SluiceError> {
  const body = await response.body.collect(ERROR_BYTES).catch(() => Buffer.alloc(0));
  return failureOfStatus(response.status, response.headers, body);
}
