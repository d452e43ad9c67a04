import { z } from 'zod';
import type { PlainRoute, Route } from './deps.ts';

type Json = Record<string, unknown>;

/** Every error, in both dialects. */
const ErrorAnswer = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    code: z.string(),
    param: z.string().nullable(),
  }),
  provider: z.string().optional(),
  model: z.string().optional(),
  detail: z
    .array(z.object({ loc: z.array(z.union([z.string(), z.number()])), message: z.string(), type: z.string() }))
    .optional(),
});

/** `GET /openapi.json`, made of the very schemas that check requests, when it is first asked for. */
export function documentRoutes(routes: readonly Route[], version: string): readonly PlainRoute[] {
  // As bytes, which all connections share: of a text each would hold its own until its client has read them.
  let document: Buffer | undefined;
  return [
    {
      method: 'GET',
      url: '/openapi.json',
      handler: async (_request, reply) => {
        document ??= Buffer.from(JSON.stringify(openApiDocument(routes, version)));
        return reply.header('content-type', 'application/json; charset=utf-8').send(document);
      },
    },
  ];
}

/** The API in OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0), whose schemas are JSON Schema 2020-12. */
export function openApiDocument(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const { path, parameters } = pathOf(route.url);
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operation(route, path, parameters);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      description:
        'One address for every language model. `/v1` is compatible with clients of the OpenAI API; `/backend-api/v2` streams typed chunks for chat front ends. `/v1/models` and `/v1/files` are described as clients of OpenAI get them; those of Anthropic and of Google, known by their headers, get the forms of their own APIs.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { Error: schemaOf(ErrorAnswer, 'output') },
      headers: HEADERS,
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'Only where the server has an access key' },
      },
    },
    security: [{}, { key: [] }],
  };
}

/** By `answerHeaders` in `answer.ts`. */
const MODEL_HEADERS = {
  'x-sluice-provider': { description: 'Who answered', schema: { type: 'string' } },
  'x-sluice-model': { description: 'The model that answered, by its name there', schema: { type: 'string' } },
  'x-sluice-attempts': { description: 'How many were asked until one answered', schema: { type: 'integer' } },
  'x-sluice-dropped': {
    description: 'Fields of the request that had no place there, separated by commas',
    schema: { type: 'string' },
  },
  ...Object.fromEntries(
    ['limit', 'remaining', 'reset'].flatMap((what) =>
      ['requests', 'tokens'].map((unit) => [
        `x-ratelimit-${what}-${unit}`,
        {
          description: 'As the upstream said it, like all else that it calls x-ratelimit-… or anthropic-ratelimit-…',
          schema: { type: 'string' },
        },
      ]),
    ),
  ),
};
const HEADERS = {
  'x-request-id': { description: 'Under which the log has the request', schema: { type: 'string' } },
  'retry-after': { description: 'Seconds after which it is worth trying again', schema: { type: 'integer' } },
  ...MODEL_HEADERS,
};

/** The same, as each operation names them. */
function headersNamed(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const EVERY_HEADER = headersNamed(['x-request-id']);
const ERROR_HEADERS = headersNamed(['x-request-id', 'retry-after']);
const OF_MODEL = headersNamed(Object.keys(MODEL_HEADERS));

/** What is as the answer's schema says: JSON, or lines of it. */
const IS_JSON = /^application\/(x-nd)?json$/;

function operation(route: Route, path: string, parameters: readonly string[]): Json {
  const answer = answerOf(route);
  return {
    operationId: `${route.method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary: route.summary,
    tags: [route.tag],
    parameters: [
      ...parameters.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...parametersOf(route.query, 'query'),
      ...parametersOf(route.headers, 'header'),
    ],
    ...(route.body === undefined && route.form === undefined
      ? {}
      : { requestBody: { required: route.hasNoBody !== true, content: bodyContent(route) } }),
    responses: {
      ...Object.fromEntries((route.statuses ?? [200]).map((status) => [status, responseOf(status, answer)])),
      default: {
        description: 'An error that says what is wrong and what to do',
        headers: ERROR_HEADERS,
        content: {
          'application/json': {
            schema:
              route.error === undefined ? { $ref: '#/components/schemas/Error' } : schemaOf(route.error, 'output'),
          },
        },
      },
    },
  };
}

const REDIRECT = {
  description: 'Where the answer is',
  headers: { ...EVERY_HEADER, location: { schema: { type: 'string' } } },
};

function responseOf(status: number, answer: Json): Json {
  if (status === 302) return REDIRECT;
  if (status !== 206 && status !== 304) return answer;
  const headers = answer['headers'] as Json;
  if (status === 304) return { description: 'Whoever asks has the present version', headers };
  const types = Object.keys(answer['content'] as Json).filter((type) => !IS_JSON.test(type));
  return {
    description: 'The part of the file that `Range` asks for',
    headers: { ...headers, 'content-range': { schema: { type: 'string' } } },
    content: Object.fromEntries(types.map((type) => [type, {}])),
  };
}

function answerOf({ answer, answerHeaders, kind, produces = ['application/json'] }: Route): Json {
  const form = answer === undefined ? {} : { schema: schemaOf(answer, 'output') };
  return {
    description: 'The answer',
    headers: { ...EVERY_HEADER, ...(kind === undefined ? {} : OF_MODEL), ...headersOf(answerHeaders) },
    content: Object.fromEntries(produces.map((type) => [type, IS_JSON.test(type) ? form : {}])),
  };
}

/** JSON Schema says of bytes only that they are any (OpenAPI 3.1, "Considerations for File Uploads"). */
const BYTES = {} as const;

function bodyContent(route: Route): Json {
  return {
    ...(route.body === undefined ? {} : { 'application/json': { schema: schemaOf(route.body, 'input') } }),
    ...(route.form === undefined ? {} : { 'multipart/form-data': { schema: route.form } }),
    ...(route.takesBytes === true ? { 'application/octet-stream': { schema: BYTES } } : {}),
  };
}

function parametersOf(parameters: z.ZodObject | undefined, where: 'query' | 'header'): Json[] {
  if (parameters === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(parameters, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: required.includes(name),
    ...described(property),
  }));
}

function headersOf(headers: z.ZodObject | undefined): Json {
  if (headers === undefined) return {};
  const { properties = {} } = schemaOf(headers, 'output') as { properties?: Record<string, Json> };
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, described(property)]));
}

/** What is said of a parameter or header stands beside its schema. */
function described({ description, ...schema }: Json): Json {
  return { ...(description === undefined ? {} : { description }), schema };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return json;
}

/** `/v1/models/*` and `/api/:provider/models` → OpenAPI's spelling. */
function pathOf(url: string): { readonly path: string; readonly parameters: readonly string[] } {
  const parameters: string[] = [];
  const path = url.replace(/:(\w+)|\*/g, (_, name: string | undefined) => {
    parameters.push(name ?? 'id');
    return `{${name ?? 'id'}}`;
  });
  return { path, parameters };
}
