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
import { aboutOf, keyFor, keyNeed, withKey } from '../about.ts';
import { errorBody } from '../error-body.ts';
import { WithOwnNames, withTakenToolNames } from '../tool-names.ts';
import { type AnswerLimits, DecodedAnswer } from './decoded-answer.ts';
import { encodeRequest } from './encode.ts';
import { failureOfStatus } from './failure.ts';
import { withJsonInWords } from './json-in-words.ts';
import { LearnedService } from './learned-service.ts';
import { capabilitiesOf, parseModels } from './models.ts';
import { withoutRefused } from './refused.ts';
import { RefusedFields } from './refused-fields.ts';
import { serviceAt } from './services.ts';
import { withPossibleStrict } from './strict-schema.ts';
import { takenMessage } from './taken-message.ts';

/** Bytes of a listing that are read. */
const LISTING_BYTES = 16 * 1024 * 1024;

interface OpenAiDeps {
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
  const { origin } = base;
  const service = new LearnedService(serviceAt(base.hostname));
  const basePath = base.pathname.replace(/\/$/, '');
  const configured = Object.freeze(headersWith(config.apiKey ?? ''));

  function headersWith(apiKey: string): Readonly<Record<string, string>> {
    const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    return { ...withKey(config, apiKey), ...json };
  }

  function target(endpoint: string, credentials: Credentials): RelayTarget {
    const apiKey = keyFor(config, credentials);
    const headers = credentials.apiKey === undefined ? configured : headersWith(apiKey);
    return { origin, path: basePath + endpoint, headers: withCookies(headers) };
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

  const refused = new RefusedFields();
  const relay: Relay = {
    target,
    countsUnasked: service.known.countsUnasked === true,
    takesNoSchemas: service.known.takesNoSchemas === true,
    taken: (message, model, drop) => takenMessage(message, service.of(model), drop),
    learn: (model, failure) => service.learn(model, failure),
  };

  /** Whoever writes OpenAI's format names tools as this upstream takes them; names of other formats may be longer, or have dots. */
  async function ask(sent: ChatRequest, call: Call): Promise<AsyncIterator<Batch>> {
    if (sent.format === undefined || sent.format === 'openai') return askNamed(sent, call);
    const { request, ownName } = withTakenToolNames(sent);
    const answer = await askNamed(request, call);
    return request === sent ? answer : new WithOwnNames(answer, ownName);
  }

  async function askNamed(request: ChatRequest, call: Call): Promise<AsyncIterator<Batch>> {
    const drop = (field: string): void => call.drop(field);
    const taken = withPossibleStrict(withoutRefused(request, service.known, drop), drop);
    const asked = withJsonInWords(taken, service.known, drop);
    const write = () => encodeRequest(asked, canStream(request), drop, service.of(request.model));
    let written = write();
    // Each further round has a field less.
    for (;;) {
      const sent = refused.leaveOut(request, written, drop);
      const body = JSON.stringify(sent);
      const upstream = { ...target('/chat/completions', call.credentials), method: 'POST', body } as const;
      const response = await open(deps.client, upstream, call.signal);
      if (response.status === 200) {
        noteRateLimits(call, response.headers);
        return new DecodedAnswer(response.body, deps.limits());
      }
      const said = await errorBody(response.body);
      const failed = failureOfStatus(response.status, response.headers, said);
      if (service.learn(request.model, failed)) written = write();
      else if (response.status !== 400 || !refused.learn(request, sent, said)) throw failed;
    }
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

  const own = keyNeed(config);
  return {
    ...aboutOf(config),
    get auth(): AuthNeed {
      const { cookieDomain: domain } = config;
      if (domain === undefined) return own;
      // Asked anew each time: cookies count as soon as they are uploaded.
      return { kind: 'cookies', domain, configured: deps.cookies.header(base) !== undefined };
    },
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

async function failure(response: UpstreamResponse): Promise<SluiceError> {
  return failureOfStatus(response.status, response.headers, await errorBody(response.body));
}
