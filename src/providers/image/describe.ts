import type { ProviderConfig } from '../../config/config.ts';
import type { Credentials } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Model } from '../../core/model.ts';
import type { AuthNeed, Provider } from '../../core/provider.ts';
import { missingKey } from '../openai/adapter.ts';
import { capabilitiesOf } from '../openai/capabilities.ts';

/** What a provider that only draws says about itself. `known` are its models where nobody is asked. */
export function describe(
  config: ProviderConfig,
  known: readonly Model[] | ((credentials: Credentials, signal: AbortSignal) => Promise<readonly Model[]>),
): Omit<Provider, 'image'> {
  const { apiKeys } = config;
  return {
    id: config.id,
    label: config.label,
    origin: config.origin,
    ...(apiKeys === undefined ? {} : { keys: () => apiKeys }),
    auth: authNeed(config),
    ...(config.url === undefined ? {} : { url: config.url }),
    ...(config.loginUrl === undefined ? {} : { loginUrl: config.loginUrl }),
    ...(config.defaultModel === undefined ? {} : { defaultModel: config.defaultModel }),
    async models(credentials, signal) {
      if (config.models !== undefined) return config.models.map((id) => drawing(id));
      return typeof known === 'function' ? known(credentials, signal) : known;
    },
  };
}

/** A model that makes pictures, or videos where its name says so. */
export function drawing(id: string): Model {
  return capabilitiesOf(id).type === 'video' ? { id, type: 'video', video: true } : { id, type: 'image', image: true };
}

/** The key for a call; empty where none is needed. */
export function keyFor(config: ProviderConfig, credentials: Credentials): string {
  const apiKey = credentials.apiKey ?? config.apiKey ?? '';
  if (apiKey === '' && config.needsKey) throw missingKey(config);
  // Anything else would make fetch refuse the header, in words that quote the key.
  if (/^[\x21-\x7e]*$/.test(apiKey)) return apiKey;
  throw new SluiceError('missing_credentials', `The API key for ${config.label} holds characters that no key has.`);
}

/** The headers of every request, with the key in its place. */
export function headersFor(config: ProviderConfig, credentials: Credentials): Readonly<Record<string, string>> {
  const apiKey = keyFor(config, credentials);
  if (apiKey === '') return config.headers;
  const isBearer = config.keyHeader === 'authorization';
  return { ...config.headers, [config.keyHeader]: isBearer ? `Bearer ${apiKey}` : apiKey };
}

function authNeed({ needsKey, apiKey, keyVariable: variable }: ProviderConfig): AuthNeed {
  if (!needsKey) return { kind: 'none' };
  return { kind: 'api_key', configured: apiKey !== undefined, ...(variable === undefined ? {} : { variable }) };
}
