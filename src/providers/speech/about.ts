import type { ProviderConfig } from '../../config/config.ts';
import type { Call } from '../../core/call.ts';
import { SluiceError } from '../../core/errors.ts';
import type { AuthNeed, Provider } from '../../core/provider.ts';

/** What a provider is, from its configuration. */
export function aboutOf(config: ProviderConfig): Omit<Provider, 'models'> {
  return {
    id: config.id,
    label: config.label,
    origin: config.origin,
    auth: authNeed(config),
    ...(config.url === undefined ? {} : { url: config.url }),
    ...(config.loginUrl === undefined ? {} : { loginUrl: config.loginUrl }),
    ...(config.defaultModel === undefined ? {} : { defaultModel: config.defaultModel }),
  };
}

/** The key for a call. Throws when there is none, or none that can stand in a header. */
export function keyFor(config: ProviderConfig, call: Call): string {
  const apiKey = call.credentials.apiKey ?? config.apiKey ?? '';
  const variable = config.keyVariable === undefined ? '' : `set ${config.keyVariable} or `;
  if (apiKey === '') {
    throw new SluiceError(
      'missing_credentials',
      `${config.label} needs an API key: ${variable}add apiKey to its entry in sluice.yaml`,
    );
  }
  // Anything else would make fetch refuse the header, in words that quote the key.
  if (/^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new SluiceError('missing_credentials', `The API key for ${config.label} holds characters that no key has.`);
}

function authNeed(config: ProviderConfig): AuthNeed {
  const { apiKey, keyVariable: variable } = config;
  return { kind: 'api_key', configured: apiKey !== undefined, ...(variable === undefined ? {} : { variable }) };
}
