import type { IncomingMessage, RequestListener, Server } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { isLoopbackName } from '../config/bind.ts';
import type { Limits } from '../config/config.ts';
import { limitRules } from '../config/limit-rules.ts';
import { SluiceError, shuttingDown } from '../core/errors.ts';
import { createServer } from '../core/node-http.ts';
import { uuid } from '../core/uuid.ts';
import { backendRoutes } from './backend/index.ts';
import { conversationsRoutes } from './conversations/index.ts';
import type { Deps, ErrorBody, PlainRoute, Route } from './deps.ts';
import { documentRoutes } from './docs.ts';
import { admit, MOST_HEADERS } from './edge/admit.ts';
import { readBytes, readJson } from './edge/body.ts';
import { brokenRequests } from './edge/broken.ts';
import { errorHandler } from './edge/errors.ts';
import { noRoute } from './edge/no-route.ts';
import { readPlainRequests } from './edge/plain-requests.ts';
import { geminiRoutes } from './gemini/index.ts';
import { mediaRoutes } from './media/index.ts';
import { messagesRoutes } from './messages/index.ts';
import { observeRoutes } from './observe/index.ts';
import { observe, observeFailure, watchRequests } from './observe/watch.ts';
import { ollamaRoutes } from './ollama/index.ts';
import { pageRoutes } from './pages.ts';
import { responsesRoutes } from './responses/index.ts';
import { unroutedErrorBody } from './unrouted.ts';
import { keepUnsent } from './unsent.ts';
import { azureRoutes } from './v1/azure.ts';
import { googleRoutes } from './v1/google.ts';
import { v1Routes } from './v1/index.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What its route says of itself; null before the first hook. Kept, since Fastify makes `routeOptions` anew for each look at it. */
    route: FastifyRequest['routeOptions']['config'] | null;
    /** A key for the provider from the Authorization header; the access key of the server itself is never here. */
    bearer: string | undefined;
    /** The access key of the server: no provider may get it, wherever the client wrote it. */
    accessKey: string | undefined;
    /** The body is a multipart form, which the handler reads itself. */
    isForm: boolean;
  }
  interface FastifyContextConfig {
    takesForm?: boolean;
    /** The parts that its form needs. */
    formParts?: readonly string[];
    takesJson?: boolean;
    outlines?: boolean;
    hasNoBody?: boolean;
    anyType?: boolean;
    takesBytes?: boolean;
    bodyLimit?: PlainRoute['bodyLimit'] | undefined;
    errorBody?: ErrorBody | undefined;
    errorStatus?: PlainRoute['errorStatus'] | undefined;
    isOpen?: PlainRoute['isOpen'];
    refusal?: PlainRoute['refusal'];
    ownerOf?: PlainRoute['ownerOf'];
  }
}

/** The route tables of all dialects. They look at what they work with only when a request comes. */
export function apiRoutes(deps: Deps): readonly Route[] {
  const ofOpenAi = [...v1Routes(deps), ...responsesRoutes(deps)];
  return [
    ...ofOpenAi,
    ...azureRoutes(ofOpenAi),
    ...googleRoutes(ofOpenAi),
    ...conversationsRoutes(deps),
    ...messagesRoutes(deps),
    ...geminiRoutes(deps),
    ...ollamaRoutes(deps),
    ...backendRoutes(deps),
    ...observeRoutes(deps),
    ...mediaRoutes(deps),
  ];
}

/** The HTTP server with all routes, not yet listening. */
export function buildServer(deps: Deps): FastifyInstance {
  const { limits, bind, trustedProxies } = deps.config();
  const isLoopbackBind = isLoopbackName(bind.host);
  const routes = apiRoutes(deps);
  const all = [...routes, ...documentRoutes(routes, deps.version), ...pageRoutes()];
  const nowhere = noRoute(all);
  const showError = errorHandler(deps, unroutedErrorBody(nowhere));
  const app = Fastify({
    serverFactory: (handler) => listener(handler, limits),
    genReqId: uuid,
    // For `addressOf` (edge/client.ts).
    trustProxy: [...trustedProxies],
    exposeHeadRoutes: true,
    // Bodies are validated by our own schemas; Fastify would load compilers for another kind.
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: unused } },
    // The whole address has a limit, which may be raised.
    routerOptions: { maxParamLength: limitRules.urlBytes.most },
    clientErrorHandler: brokenRequests(),
    // Of paths that are none: they meet no hook, and are admitted like all others.
    frameworkErrors(error, request, reply) {
      let failure: unknown = error;
      try {
        if (!admit(request, reply, deps.config(), isLoopbackBind, false)) return;
      } catch (refusal) {
        failure = refusal;
      }
      showError(failure, request, reply);
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  });
  app.decorateRequest('route', null);
  app.decorateRequest('bearer', undefined);
  app.decorateRequest('accessKey', undefined);
  app.decorateRequest('isForm', false);
  watchRequests(app, deps.observer);
  // With callbacks: a promise for each hook of each request is not free.
  app.addHook('onRequest', (request, reply, done) => {
    request.route = request.routeOptions.config;
    const observation = observe(request, reply, deps.observer);
    const isOpen = request.route.isOpen === true;
    if (!admit(request, reply, deps.config(), isLoopbackBind, isOpen)) return;
    observation.admitted = true;
    if (deps.calls.draining && !isOpen) throw shuttingDown({ retryAfter: 5 });
    done();
  });
  app.addHook('onRequest', (request, reply, done) => {
    // Before the body is looked at: whatever it holds, there is nobody to take it.
    if (request.is404) throw nowhere.refuse(request, reply);
    const refused = request.route?.refusal?.(request, reply);
    if (refused !== undefined) throw refused;
    // A header that is empty says nothing, while Fastify would take it for a type that it does not know.
    if (request.headers['content-type'] === '') delete request.headers['content-type'];
    done();
  });
  readBodies(app, deps);
  const { elsewhere } = deps;
  if (elsewhere !== undefined) {
    // Once it has its body, which is answered here if nobody else can; and who asks whether to send one hears it of this process.
    app.addHook('preHandler', async (request, reply) => {
      const send = await elsewhere.ask(request, reply);
      if (send === undefined) return undefined;
      // Before it is sent, whose end would be noted here too.
      if (request.observation !== undefined) deps.observer.forget(request.observation);
      send();
      return reply;
    });
  }
  app.setErrorHandler((error, request, reply) => {
    observeFailure(request, error);
    showError(error, request, reply);
  });
  for (const route of all) mount(app, route);
  return app;
}

/** Node's server, with what is ours about connections, heads and limits. */
function listener(handler: RequestListener, limits: Limits): Server {
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      // Checked with the rest of it (edge/guard.ts), which answers like every other refusal.
      requireHostHeader: false,
      // Bodies have an idle limit of their own (edge/body.ts); a long upload that moves is no attack.
      requestTimeout: 0,
      // It stays as it is, while the limit that is checked may be lowered.
      connectionsCheckingInterval: Math.min(1_000, limits.clientHeaderMs),
      noDelay: true,
    },
    handler,
  );
  server.maxHeadersCount = MOST_HEADERS;
  useLimits(server, limits);
  keepUnsent(server);
  readPlainRequests(server, limits.headerBytes);
  // Nothing that can be expected is known to us; RFC 9110 §10.1.1 lets us pass over it.
  server.on('checkExpectation', handler);
  // Who asks first whether a body is wanted hears so when somebody begins to read it; a refusal needs none of it.
  server.on('checkContinue', (request, response) => {
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue();
    });
    handler(request, response);
  });
  return server;
}

/** Serves a route; what its row says is there for whoever looks at `request.route`. */
function mount(app: FastifyInstance, route: PlainRoute): void {
  const { method, url, handler, form, bodyLimit, errorBody, isCostly, hasNoBody = false, anyType = false } = route;
  const { kind, isOpen, ownerOf, refusal, errorStatus, outlines = false, takesBytes = false } = route;
  const takesForm = form !== undefined;
  const takesJson = !takesForm || 'body' in route;
  const formParts = form?.required ?? [];
  const ofBody = { takesForm, formParts, takesJson, outlines, hasNoBody, anyType, takesBytes, bodyLimit };
  const config = { ...ofBody, errorBody, errorStatus, kind, isOpen, refusal, ownerOf };
  app.route({ method, url, handler, config, exposeHeadRoute: isCostly !== true });
}

/** Puts those limits in force that Node keeps. */
export function useLimits(server: Server, { clientHeaderMs, keepAliveMs }: Limits): void {
  server.headersTimeout = clientHeaderMs;
  server.keepAliveTimeout = keepAliveMs;
}

/** JSON is read here, within limits; forms are left to their handlers; anything else is refused. */
function readBodies(app: FastifyInstance, deps: Deps): void {
  const { deadlines, turns } = deps;
  app.removeAllContentTypeParsers();
  const read = (request: FastifyRequest, payload: IncomingMessage) => {
    const { limits } = deps.config();
    const limit = request.route?.bodyLimit?.(limits, request) ?? limits.bodyBytes;
    const reader = { limits, deadlines, turns };
    if (request.route?.takesBytes === true) return readBytes(payload, limit, reader);
    return readJson(payload, limit, reader, request.route?.outlines);
  };
  // Not async: a promise around that of the body, where it has one, would cost each request three turns.
  app.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage, done) => {
    if (isWithoutBody(request)) return done(null);
    if (request.route?.takesJson !== true) throw wrongType(request);
    const body = read(request, payload);
    return body instanceof Promise ? body : done(null, body);
  });
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, payload: IncomingMessage) => {
    if (isWithoutBody(request)) return undefined;
    if (request.route?.takesBytes === true) return read(request, payload);
    if (request.route?.takesForm !== true) {
      throw wrongType(request);
    }
    request.isForm = true;
    return undefined;
  });
  // Every other type, and none.
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    if (isWithoutBody(request)) return undefined;
    if (request.route?.anyType === true || request.route?.takesBytes === true) return read(request, payload);
    throw wrongType(request);
  });
  app.addHook('preHandler', (request, _reply, done) => {
    const hasBody = request.method !== 'POST' || request.isForm || request.body !== undefined;
    if (hasBody || request.route?.hasNoBody === true) return done();
    throw wrongType(request);
  });
}

/** Whether there need not be a body, and is none: some clients (OpenAI's for Python) send a content type with every request. */
function isWithoutBody({ method, headers, route }: FastifyRequest): boolean {
  if (method === 'POST' && route?.hasNoBody !== true) return false;
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** There is no body, or one of a type that the path does not take. */
function wrongType({ route }: FastifyRequest): SluiceError {
  const types = [
    ...(route?.takesJson === true ? ['JSON, with "Content-Type: application/json"'] : []),
    ...(route?.takesForm === true ? [`a multipart form with '${(route.formParts ?? []).join("' and '")}'`] : []),
  ];
  return new SluiceError('unsupported_media_type', `Send the body as ${types.join(', or as ')}.`);
}

function unused(): never {
  throw new Error('no route has a schema of this kind');
}
