import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../../core/errors.ts';
import type { Operation, RouteKind } from '../../observe/observation.ts';
import type { Deps, Handler } from '../deps.ts';
import { nothingAt } from '../edge/no-route.ts';
import type { Variant } from '../variant.ts';
import { modelInPath } from '../wish.ts';
import { countTokens } from './count-tokens.ts';
import { batchEmbedContents, embedContent } from './embed.ts';
import { errorBody } from './errors.ts';
import { type Form, generate } from './generate.ts';

interface Method {
  readonly operation: Operation;
  readonly run: (deps: Deps, request: FastifyRequest, reply: FastifyReply, model: string) => Promise<FastifyReply>;
}

/** What can be done with a model: the words behind the last colon of the path. */
const METHODS: Readonly<Record<string, Method>> = {
  generateContent: {
    operation: 'chat',
    run: (deps, request, reply, model) => generate(deps, request, reply, model, 'whole'),
  },
  streamGenerateContent: {
    operation: 'chat',
    run: (deps, request, reply, model) => generate(deps, request, reply, model, streamForm(request)),
  },
  countTokens: { operation: 'count_tokens', run: countTokens },
  embedContent: { operation: 'embedding', run: embedContent },
  batchEmbedContents: { operation: 'embedding', run: batchEmbedContents },
};

/** `POST /v1beta/models/<model>:<method>`. Names of models may have slashes and colons themselves. */
export function modelMethod(deps: Deps): Handler {
  return async (request, reply) => {
    const called = methodOf(request);
    if (called === undefined) throw nothingAt(request);
    if (request.body === undefined)
      throw new SluiceError('unsupported_media_type', 'Send the body as JSON, with "Content-Type: application/json".');
    return called.method.run(deps, request, reply, modelInPath(called.model));
  };
}

/** What can be done instead of what was tried, where the path names no method of a model. */
export function noMethod(request: FastifyRequest, reply: FastifyReply): SluiceError | undefined {
  const doubled = doubledVersion(request);
  if (doubled !== undefined) return nothingAt(request, doubled);
  if (methodOf(request) !== undefined) return undefined;
  const path = pathOf(request);
  const names = Object.keys(METHODS).join(', ');
  // A provider may have this name: its models are asked by their methods.
  if (/^files\/[^/]+$/.test(path)) {
    reply.header('allow', 'GET, HEAD, DELETE');
    return new SluiceError(
      'method_not_allowed',
      'A file answers GET, HEAD, DELETE only. POST /upload/v1beta/files takes new ones.',
    );
  }
  const colon = path.lastIndexOf(':');
  const text =
    colon === -1
      ? `'${path.slice(0, 256)}' names no method: it stands behind the model, as in 'models/<model>:generateContent'`
      : `There is no method '${path.slice(colon + 1).slice(0, 64)}' of models here`;
  return new SluiceError('not_found', `${text}; there are ${names}.`);
}

/** The path that was meant where `/v1beta` is there twice: some clients want it in the base URL, others add it. */
function doubledVersion({ params, raw: { url = '' } }: FastifyRequest): string | undefined {
  if ((params as { provider?: string }).provider !== 'v1beta') return undefined;
  return url.split('?', 1)[0]?.slice('/v1beta'.length);
}

/** The same on a path that means the model itself without the name of a method. */
export function geminiMethods(deps: Deps): Variant {
  return {
    isFor: (request) => methodOf(request) !== undefined,
    bodyLimit: (limits) => limits.chatBodyBytes,
    errorBody,
    handler: modelMethod(deps),
  };
}

/** What is asked of a model by the method that its path names; undefined: it names none. */
export function kindOfMethod(request: FastifyRequest): RouteKind | undefined {
  const operation = methodOf(request)?.method.operation;
  return operation === undefined ? undefined : { dialect: 'gemini', operation };
}

/** The same where a word behind a colon is meant as a method, also one that there is not. */
export function kindOfAnyMethod(request: FastifyRequest): RouteKind | undefined {
  const path = pathOf(request);
  return kindOfMethod(request) ?? (path.includes(':') ? { dialect: 'gemini', operation: 'chat' } : undefined);
}

function methodOf(request: FastifyRequest): { readonly model: string; readonly method: Method } | undefined {
  const path = pathOf(request);
  const colon = path.lastIndexOf(':');
  const name = path.slice(colon + 1);
  const method = colon > 0 && Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  return method === undefined ? undefined : { model: modelName(path.slice(0, colon)), method };
}

/** The model and the method, whose first part may be a provider before which `models/` was left out. */
function pathOf(request: FastifyRequest): string {
  // The parser of an address that is none finds no parts in it.
  const { '*': path = '', provider } = (request.params ?? {}) as { '*'?: string; provider?: string };
  return provider === undefined ? path : `${provider}/${path}`;
}

/** Clients may name a model in full. */
export function modelName(path: string): string {
  return path.replace(/^models\//, '');
}

function streamForm(request: FastifyRequest): Form {
  return (request.query as { alt?: unknown }).alt === 'sse' ? 'events' : 'array';
}
