import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import type { ClientKeys } from '../routing/credentials.ts';

/** What clients send when they have no key but their library insists on one. */
const PLACEHOLDER = 'secret';

/** Whoever has the server's access key, as the owner of what is kept. */
export function ownerByKey(key: string): string {
  return createHash('sha256').update(`key:${key}`).digest('hex');
}

/** Whose things a client may see: those kept with the present access key, and those of a time without any (null). */
export function ownerNow({ key }: Pick<Config, 'key'>): string | null {
  return key === undefined ? null : ownerByKey(key);
}

/** The provider keys that came with a request, from its body and headers. The server's own is none of them (S-5). */
export function clientKeys(
  request: FastifyRequest,
  apiKey: string | Record<string, string | null> | null | undefined,
): ClientKeys {
  const header = request.headers['x-api-key'] ?? request.headers['x_api_key'];
  const { bearer, accessKey } = request;
  const isOne = (key: unknown): key is string =>
    typeof key === 'string' && key !== '' && key !== PLACEHOLDER && key !== accessKey;
  const own = apiKey ?? header;
  const given = isOne(bearer) ? { bearer } : {};
  if (isOne(own)) return { apiKey: own, ...given };
  if (typeof own !== 'object' || Array.isArray(own)) return given;
  const keys = Object.entries(own).filter((pair): pair is [string, string] => isOne(pair[1]));
  return { apiKey: new Map(keys.map(([name, key]) => [name.toLowerCase(), key])), ...given };
}
