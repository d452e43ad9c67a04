import type { FastifyRequest } from 'fastify';
import type { ClientKeys } from '../routing/credentials.ts';

/** What clients send when they have no key but their library insists on one. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(['', 'secret']);

/** The provider keys that came with a request, from its body and headers. */
export function clientKeys(
  request: FastifyRequest,
  apiKey: string | Record<string, string | null> | null | undefined,
): ClientKeys {
  const header = request.headers['x-api-key'] ?? request.headers['x_api_key'];
  const { bearer } = request;
  const own = apiKey ?? (typeof header === 'string' ? header : undefined);
  const keys = own === undefined ? {} : withKey(own);
  return bearer === undefined || PLACEHOLDERS.has(bearer) ? keys : { ...keys, bearer };
}

function withKey(own: string | Record<string, string | null>): { apiKey?: string | ReadonlyMap<string, string> } {
  if (typeof own === 'string') return PLACEHOLDERS.has(own) ? {} : { apiKey: own };
  const pairs = Object.entries(own).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && !PLACEHOLDERS.has(pair[1]),
  );
  return { apiKey: new Map(pairs.map(([name, key]) => [name.toLowerCase(), key])) };
}
