import type { ProviderConfig } from '../config/config.ts';
import { SluiceError } from '../core/errors.ts';
import { parseObject } from '../core/objects.ts';
import type { Provider } from '../core/provider.ts';
import type { UpstreamClient } from '../outbound/upstream.ts';
import { headersFor } from './about.ts';
import { askBytes } from './image/ask.ts';

/** Bytes of such an answer, which are a few figures. */
const QUOTA_BYTES = 64 * 1024;

/** The same provider, which now also tells what is left of an account, where there is an address for that. */
export function withQuota(provider: Provider, config: ProviderConfig, client: UpstreamClient): Provider {
  const { baseUrl } = config;
  const quotaPath = config.settings['quotaPath'];
  if (baseUrl === undefined || quotaPath === undefined) return provider;
  // With one slash in front it stays at the origin that gets the key, whatever the configuration says.
  const url = new URL(quotaPath.replace(/^\/*/, '/'), baseUrl).href;
  const deps = { client, limits: () => ({ answerBytes: QUOTA_BYTES }) };

  const telling: Pick<Provider, 'quota'> = {
    async quota(credentials, signal) {
      const headers = { ...headersFor(config, credentials), accept: 'application/json' };
      try {
        const { bytes } = await askBytes(deps, { url, method: 'GET', headers }, signal);
        return asJsonObject(bytes, provider);
      } catch (error) {
        // Another address of the vendor, or what stands before it, need not have this path.
        if (error instanceof SluiceError && error.status === 404) throw noQuota(provider);
        throw error;
      }
    },
  };
  return Object.assign(provider, telling);
}

/** Nobody knows where to ask this provider what is left. */
export function noQuota({ label }: Provider): SluiceError {
  return new SluiceError('not_found', `${label} does not tell what is left of an account.`, { param: 'provider' });
}

/** As it came: its figures may be longer than numbers of ours. */
function asJsonObject(bytes: Buffer, { label }: Provider): string {
  const text = bytes.toString('utf8');
  if (parseObject(text) !== undefined) return text;
  throw new SluiceError('upstream_invalid', `${label} told what is left in something that is no JSON object.`);
}
