import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError, toSluiceError } from '../../core/errors.ts';
import type { Observation } from '../../observe/observation.ts';
import type { Observer } from '../../observe/observer.ts';
import { samplingOf } from '../../observe/sampling.ts';
import type { PlainRoute } from '../deps.ts';
import type { JsonBody } from '../edge/json-body.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What is noted of this request. */
    observation: Observation | undefined;
  }
  interface FastifyContextConfig {
    kind?: PlainRoute['kind'];
  }
}

/** Prepares a server for `observe`. */
export function watchRequests(app: FastifyInstance, observer: Observer): void {
  app.decorateRequest('observation', undefined);
  if (observer.mode !== 'full' && !observer.traces) return;
  app.addHook('preHandler', async ({ observation, body, query, method }) => {
    if (observation?.operation === undefined) return;
    const json = body as JsonBody | undefined;
    if (observer.traces) observation.sampling = samplingOf(json?.outlined?.value ?? json?.value);
    if (observer.mode === 'full') observation.body = method === 'GET' ? query : json?.value;
  });
}

/** Begins to note what becomes of a request. One listener is all that it costs while the request runs. */
export function observe(request: FastifyRequest, reply: FastifyReply, observer: Observer): Observation {
  const { raw } = request;
  const { url = '', kind } = request.route ?? {};
  const route = request.is404 || url === '' ? 'none' : url;
  const asked = typeof kind === 'function' ? kind(request) : kind;
  const observation = observer.begin(request.id, raw.method ?? '', route, asked);
  request.observation = observation;
  if (observer.traces) {
    observation.url = raw.url ?? '';
    observation.scheme = request.protocol;
    const { traceparent, tracestate } = raw.headers;
    if (typeof traceparent === 'string') observation.traceparent = traceparent;
    if (typeof tracestate === 'string') observation.tracestate = tracestate;
  }
  const { raw: response } = reply;
  // Not `once`: it comes once, and to take a listener off again costs more than all that it does here.
  response.on('close', () => observer.closed(observation, response.statusCode, response.writableFinished));
  return observation;
}

/** Notes why a request fails, before its error is shown. */
export function observeFailure(request: FastifyRequest, thrown: unknown): void {
  const { observation } = request;
  if (observation === undefined) return;
  // Fastify's own errors get their words, and their status, later.
  if (thrown instanceof SluiceError || !(thrown instanceof Error && 'code' in thrown)) {
    observation.failed(toSluiceError(thrown));
  }
}
