import type { WireFormat } from '../core/chat.ts';
import { speaks } from '../providers/ai-sdk/native.ts';
import { type ClientKeys, credentialsFor } from '../routing/credentials.ts';
import { select, type Wish } from '../routing/select.ts';
import type { Deps } from './deps.ts';

/**
 * Whether the first choice for a wish speaks the client's own format; not so where there is none, of which the router says
 * why. What only such an upstream can do itself, its own web search for example, is left to it; should another one take over,
 * it says that it cannot.
 */
export async function firstSpeaks(format: WireFormat, wish: Wish, keys: ClientKeys, deps: Deps): Promise<boolean> {
  try {
    const [first] = await select(wish, deps.config(), deps.router.catalog, (provider) =>
      credentialsFor(provider, keys, true),
    );
    return first !== undefined && speaks(first.provider, format);
  } catch {
    return false;
  }
}
