import { z } from 'zod';
import { toSluiceError } from '../core/errors.ts';
import { Secrets } from '../core/secrets.ts';
import { noQuota } from '../providers/quota.ts';
import { credentialsFor, withoutKey } from '../routing/credentials.ts';
import { providerNotFound } from '../routing/select.ts';
import { withCall } from './answer.ts';
import type { Deps, Handler } from './deps.ts';
import { clientKeys } from './keys.ts';
import { within } from './perform.ts';

/** Each vendor has its own words for what is left. */
export const QuotaAnswer = z.looseObject({}).describe("The provider's own object");

/**
 * `GET /api/<provider>/quota` and `GET quota/<provider>`: what is left of the account that the client's key belongs to, else the
 * configured one.
 *
 * @param listing where clients of this dialect find what providers there are
 */
export function quota(deps: Deps, listing?: string): Handler {
  return async (request, reply) => {
    const { provider: name } = request.params as { provider: string };
    const provider = deps.router.catalog.provider(name);
    if (provider === undefined) throw providerNotFound(name, listing);
    const ask = provider.quota;
    if (ask === undefined) throw noQuota(provider);
    const credentials = credentialsFor(provider, clientKeys(request, undefined), true);
    return withCall(request, reply, deps, {}, async (call) => {
      const scope = call.fork(credentials);
      const { firstByteMs } = deps.config().limits;
      try {
        const told = await within(deps, scope, firstByteMs, () => ask(credentials, scope.signal));
        reply
          .header('content-type', 'application/json; charset=utf-8')
          .send(masked(told, deps.secrets, credentials.apiKey));
      } catch (error) {
        throw call.cancelled ?? withoutKey(toSluiceError(error).from(provider.id, ''), credentials);
      }
    });
  };
}

/** Some accounts come with the key that asked for them. */
function masked(text: string, secrets: Secrets, ownKey: string | undefined): string {
  const own = new Secrets();
  own.use([ownKey]);
  return own.mask(secrets.mask(text));
}
