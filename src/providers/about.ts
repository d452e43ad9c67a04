import type { ProviderConfig } from '../config/config.ts';
import type { Credentials } from '../core/call.ts';
import { SluiceError } from '../core/errors.ts';
import { defined } from '../core/objects.ts';
import type { AuthNeed, Provider } from '../core/provider.ts';

type About = Pick<
  Provider,
  'id' | 'label' | 'origin' | 'keys' | 'auth' | 'url' | 'loginUrl' | 'defaultModel' | 'configuredModels'
>;

/** What a provider is, from its configuration. */
export function aboutOf(config: ProviderConfig, auth: AuthNeed = keyNeed(config)): About {
  const { id, label, origin, apiKeys, url, loginUrl, defaultModel, models } = config;
  return {
    ...{ id, label, origin, auth },
    ...(apiKeys === undefined ? {} : { keys: () => apiKeys }),
    ...defined({ url, loginUrl, defaultModel, configuredModels: models }),
  };
}

/** @param configured whether something else than a key may do */
export function keyNeed(config: ProviderConfig, configured = config.apiKey !== undefined): AuthNeed {
  const { needsKey, keyVariable: variable } = config;
  if (!needsKey) return { kind: 'none' };
  return { kind: 'api_key', configured, ...(variable === undefined ? {} : { variable }) };
}

/** The key for a call; empty where none is needed. Throws when it is missing, or holds what cannot stand in a header. */
export function keyFor(config: ProviderConfig, credentials: Credentials, isNeeded = config.needsKey): string {
  const apiKey = credentials.apiKey ?? config.apiKey ?? '';
  if (apiKey === '' && isNeeded) throw missingKey(config);
  // Whoever writes the header would refuse it in words that quote the key.
  if (/^[\x21-\x7e]*$/.test(apiKey)) return apiKey;
  throw new SluiceError('missing_credentials', `The API key for ${config.label} holds characters that no key has.`);
}

/** The headers of every request of a call, with the key in its place. */
export function headersFor(config: ProviderConfig, credentials: Credentials): Readonly<Record<string, string>> {
  return withKey(config, keyFor(config, credentials));
}

/** The headers of every request with this key; an empty one is left out. */
export function withKey({ headers, keyHeader }: ProviderConfig, apiKey: string): Readonly<Record<string, string>> {
  if (apiKey === '') return headers;
  return { ...headers, [keyHeader]: keyHeader === 'authorization' ? `Bearer ${apiKey}` : apiKey };
}

/** What to do about a missing key, in one sentence. */
function missingKey({ id, label, keyVariable }: ProviderConfig): SluiceError {
  const variable = keyVariable === undefined ? '' : `set ${keyVariable} or `;
  return new SluiceError(
    'missing_credentials',
    `${label} needs an API key: ${variable}add apiKey to providers.${id} in sluice.yaml, or send api_key with the request.`,
  );
}
