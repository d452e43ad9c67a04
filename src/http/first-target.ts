import type { ProviderKind } from '../config/config.ts';
import { type ClientKeys, credentialsFor } from '../routing/credentials.ts';
import { select, type Wish } from '../routing/select.ts';
import type { Deps } from './deps.ts';

/**
 * Whether the first choice for a wish is of one kind. What only such an upstream can do itself, its own web search for
 * example, is left to it then; should another one take over, it says that it cannot.
 */
export async function isFirstOf(kind: ProviderKind, deps: Deps, wish: Wish, keys: ClientKeys): Promise<boolean> {
  const config = deps.config();
  const targets = await select(wish, config, deps.router.catalog, (provider) => credentialsFor(provider, keys, true));
  const id = targets[0]?.provider.id;
  return config.providers.some((provider) => provider.id === id && provider.kind === kind);
}
