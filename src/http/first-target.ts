import { type ClientKeys, credentialsFor } from '../routing/credentials.ts';
import { select, type Target, type Wish } from '../routing/select.ts';
import type { Deps } from './deps.ts';

/**
 * The first choice for a wish; undefined where there is none, of which the router says why. What only such an upstream can
 * do itself, its own web search for example, is left to it; should another one take over, it says that it cannot.
 */
export async function firstOf(wish: Wish, keys: ClientKeys, deps: Deps): Promise<Target | undefined> {
  try {
    const [first] = await select(wish, deps.config(), deps.router.catalog, (provider) =>
      credentialsFor(provider, keys, true),
    );
    return first;
  } catch {
    return undefined;
  }
}
