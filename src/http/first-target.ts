import type { WireFormat } from '../core/chat.ts';
import { speaks } from '../providers/ai-sdk/native.ts';
import { type ClientKeys, credentialsFor } from '../routing/credentials.ts';
import { type CredentialsOf, select, type Wish } from '../routing/select.ts';
import type { Deps } from './deps.ts';

/**
 * Whether the first choice for a wish speaks the client's own format; not so where there is none, of which the router says
 * why. What only such an upstream can do itself, its own web search for example, is left to it; should another one take over,
 * it says that it cannot.
 */
export async function firstSpeaks(format: WireFormat, wish: Wish, keys: ClientKeys, deps: Deps): Promise<boolean> {
  try {
    const preferences = deps.config();
    const { catalog } = deps.router;
    const ownKey: CredentialsOf = (provider, isChosen) => credentialsFor(provider, keys, isChosen);
    const [first] = await select(wish, preferences, catalog, ownKey);
    return first !== undefined && speaks(first.provider, format);
  } catch {
    return false;
  }
}
