import type { Limits } from '../../config/config.ts';
import type { Call } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import { noModel } from '../../core/no-model.ts';
import { isObject, parseJson } from '../../core/objects.ts';
import type { Provider, Relay } from '../../core/provider.ts';
import { open, type UpstreamResponse } from '../../outbound/body.ts';
import { noteRateLimits } from '../../outbound/rate-limits.ts';
import type { UpstreamClient } from '../../outbound/upstream.ts';
import { errorBody } from '../error-body.ts';
import { failureInAnswer, failureOfStatus } from '../openai/failure.ts';

/** Whom the tasks of a provider that speaks the OpenAI wire format are sent to. */
export interface TaskUpstream {
  readonly provider: Provider;
  readonly relay: Relay;
  readonly client: UpstreamClient;
  readonly limits: () => Pick<Limits, 'answerBytes' | 'sseLineBytes'>;
}

/** One request to an upstream. */
export interface TaskRequest {
  /** What the provider does by it, for the message when it does not: `does not make embeddings`. */
  readonly deed: string;
  /** Behind the provider's address. */
  readonly endpoint: string;
  /** Another path on the same host, made of the usual one. */
  readonly path?: (usual: string) => string;
  readonly body: Buffer | string;
  /** JSON when absent. */
  readonly contentType?: string;
}

/** Sends a task, and resolves with the head of a good answer. */
export async function post(
  { provider, relay, client }: TaskUpstream,
  { deed, endpoint, path, body, contentType = 'application/json' }: TaskRequest,
  call: Call,
  signal: AbortSignal = call.signal,
): Promise<UpstreamResponse> {
  const target = relay.target(endpoint, call.credentials);
  const headers = { ...target.headers, 'content-type': contentType };
  const to = { ...target, path: path?.(target.path) ?? target.path, headers, method: 'POST', body } as const;
  const response = await open(client, to, signal);
  noteRateLimits(call, response.headers);
  if (response.status === 200) return response;
  throw await failure(response, `${provider.label} does not ${deed}.`);
}

/** The same, for an answer that is a JSON object. */
export async function postForJson(
  upstream: TaskUpstream,
  request: TaskRequest,
  call: Call,
  signal?: AbortSignal,
): Promise<{ readonly json: Readonly<Record<string, unknown>>; readonly bytes: Buffer }> {
  const response = await post(upstream, request, call, signal);
  const bytes = await response.body.collect(upstream.limits().answerBytes);
  return { json: parseAnswer(bytes, upstream.provider), bytes };
}

/** A JSON object that is an answer and no error. */
export function parseAnswer(bytes: Buffer, { label }: Provider): Readonly<Record<string, unknown>> {
  const json = parseJson(bytes.toString('utf8'));
  if (json === undefined)
    throw new SluiceError('upstream_invalid', `${label} answered with something that is not JSON.`);
  if (!isObject(json)) throw new SluiceError('upstream_invalid', `${label} answered with JSON of an odd form.`);
  const failed = failureInAnswer(json);
  if (failed !== undefined) throw failed;
  return json;
}

/** For tasks that have no use for a request without a model. */
export function needModel(model: string, provider: Provider): string {
  if (model !== '') return model;
  throw noModel(provider);
}

async function failure(response: UpstreamResponse, unable: string): Promise<SluiceError> {
  const body = await errorBody(response.body);
  const { status, headers } = response;
  const told = failureOfStatus(status, headers, body, 'same');
  // Most upstreams that chat have no such path, and say so in many ways; of a model they say that it is one.
  const isMissing = (status === 404 || status === 405) && !/model/i.test(told.message);
  // "This is a chat model and not supported in the v1/completions endpoint."
  const isOther =
    (status === 404 || status === 400) && /not supported in the v1\/|not a chat model/i.test(told.message);
  if (isMissing || isOther) return new SluiceError('not_supported', unable);
  // llama.cpp: "This server does not support embeddings. Start it with `--embeddings`"
  return status === 501 ? new SluiceError('not_supported', told.message) : told;
}
