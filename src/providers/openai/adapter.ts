import type { ProviderConfig } from '../../config/config.ts';
import type { Call, Credentials } from '../../core/call.ts';
import type { ChatRequest } from '../../core/chat.ts';
import type { Batch } from '../../core/chunk.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Model } from '../../core/model.ts';
import { membersOf } from '../../core/objects.ts';
import { Opened } from '../../core/opened.ts';
import type { AuthNeed, Provider, ProviderCookies, Relay, RelayTarget } from '../../core/provider.ts';
import { open, type UpstreamResponse } from '../../outbound/body.ts';
import { noteRateLimits } from '../../outbound/rate-limits.ts';
import type { UpstreamClient } from '../../outbound/upstream.ts';
import { type AnswerLimits, DecodedAnswer } from './decoded-answer.ts';
import { encodeRequest } from './encode.ts';
import { failureOfStatus } from './failure.ts';
import { capabilitiesOf, parseModels } from './models.ts';
import { withoutRefused } from './refused.ts';

/** Bytes of an error answer or a listing that are read. */
const ERROR_BYTES = 64 * 1024;
const LISTING_BYTES = 16 * 1024 * 1024;

export interface OpenAiDeps {
  readonly client: UpstreamClient;
  readonly cookies: ProviderCookies;
  readonly limits: () => AnswerLimits;
}

/** A provider for any upstream that speaks the wire format of OpenAI's chat completions. */
export function createOpenAiProvider(
  config: ProviderConfig & { readonly baseUrl: string },
  deps: OpenAiDeps,
): Provider {
  const base = new URL(config.baseUrl);
  const basePath = base.pathname.replace(/\/$/, '');
  const common: Record<string, string> = { ...config.headers };
  const configured = Object.freeze(headersFor(config.apiKey));

  function headersFor(apiKey: string | undefined): Readonly<Record<string, string>> {
    const headers = { ...common, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    if (apiKey === undefined) return headers;
    if (config.keyHeader === 'authorization') return { ...headers, authorization: `Bearer ${apiKey}` };
    return { ...headers, [config.keyHeader]: apiKey };
  }

  function target(endpoint: string, credentials: Credentials): RelayTarget {
    const apiKey = credentials.apiKey ?? config.apiKey;
    if (apiKey === undefined && config.needsKey) throw missingKey(config);
    // Anything else cannot stand in a header. The configured key was checked when it was read.
    if (credentials.apiKey !== undefined && !/^[\x21-\x7e]+$/.test(credentials.apiKey)) {
      throw new SluiceError('missing_credentials', `The API key for ${config.label} holds characters that no key has.`);
    }
    const headers = credentials.apiKey === undefined ? configured : headersFor(credentials.apiKey);
    return { origin: base.origin, path: basePath + endpoint, headers: withCookies(headers) };
  }

  function withCookies(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    if (config.cookieDomain === undefined) return headers;
    const cookie = deps.cookies.header(base);
    if (cookie !== undefined) return { ...headers, cookie };
    throw new SluiceError(
      'missing_credentials',
      `${config.label} needs cookies of ${config.cookieDomain}: log in there with a browser and upload its cookies.`,
    );
  }

  const relay: Relay = { target };

  async function ask(request: ChatRequest, call: Call): Promise<AsyncIterator<Batch>> {
    const drop = (field: string): void => call.drop(field);
    const taken = withoutRefused(request, base.hostname, drop);
    const body = JSON.stringify(encodeRequest(taken, canStream(request), drop));
    const upstream = { ...target('/chat/completions', call.credentials), method: 'POST', body } as const;
    const response = await open(deps.client, upstream, call.signal);
    if (response.status !== 200) throw await failure(response);
    noteRateLimits(call, response.headers);
    return new DecodedAnswer(response.body, deps.limits());
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

  const { apiKeys } = config;
  return {
    id: config.id,
    label: config.label,
    ...(apiKeys === undefined ? {} : { keys: () => apiKeys }),
    origin: config.origin,
    get auth() {
      return authOf(config, deps.cookies);
    },
    ...(config.url === undefined ? {} : { url: config.url }),
    ...(config.loginUrl === undefined ? {} : { loginUrl: config.loginUrl }),
    ...(config.defaultModel === undefined ? {} : { defaultModel: config.defaultModel }),
    models,
    chat: (request, call) => new Opened(() => ask(request, call)),
    relay,
  };
}

/** A spoken answer streams as bare samples only; a file (wav, mp3, …) comes whole, and a stream of it is refused. */
function canStream({ extra: { modalities, audio } }: ChatRequest): boolean {
  const isSpoken = Array.isArray(modalities) && modalities.includes('audio');
  return !isSpoken || membersOf(audio)['format'] === 'pcm16';
}

function authOf(config: ProviderConfig, cookies: ProviderCookies): AuthNeed {
  const { cookieDomain: domain, keyVariable: variable } = config;
  // Asked anew each time: cookies count as soon as they are uploaded.
  if (domain !== undefined) return { kind: 'cookies', domain, configured: cookies.has(domain) };
  if (!config.needsKey) return { kind: 'none' };
  return { kind: 'api_key', configured: config.apiKey !== undefined, ...(variable === undefined ? {} : { variable }) };
}

/** What to do about a missing key, in one sentence. */
export function missingKey(config: Pick<ProviderConfig, 'label' | 'keyVariable' | 'id'>): SluiceError {
  const variable = config.keyVariable === undefined ? '' : `set ${config.keyVariable} or `;
  return new SluiceError(
    'missing_credentials',
    `${config.label} needs an API key: ${variable}add apiKey to providers.${config.id} in sluice.yaml, or send api_key with the request.`,
  );
}

async function failure(response: UpstreamResponse): Promise<SluiceError> {
  const body = await response.body.collect(ERROR_BYTES).catch(() => Buffer.alloc(0));
  return failureOfStatus(response.status, response.headers, body);
}
