import type { Config } from '../config/config.ts';
import type { Provider } from '../core/provider.ts';

/** The origins of a provider's own address, which may be on a private network: media may be fetched from there. */
export function originsOf(provider: Provider, config: Pick<Config, 'providers'>): readonly string[] {
  const known = config.providers.find(({ id }) => id === provider.id)?.baseUrl;
  if (known !== undefined) return [new URL(known).origin];
  // Local servers that were found stand in no configuration, and need no key to be asked where they are.
  if (provider.origin !== 'local' || provider.relay === undefined) return [];
  return [provider.relay.target('', {}).origin];
}
