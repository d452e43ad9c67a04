/** A provider as `GET providers` lists it. */
export interface ProviderEntry {
  readonly name: string;
  readonly label: string;
  readonly auth: boolean;
  readonly login_url: string | null;
  readonly active_by_default: boolean;
  readonly image: number;
  readonly audio: number;
  readonly video: number;
  readonly vision: boolean;
  /** How it came to be on: `file`, `environment`, `local` or `embedded`. */
  readonly origin: string;
  /** The environment variable that holds the server's key for it, and the domain whose cookies it needs. */
  readonly key_variable: string | null;
  readonly cookie_domain: string | null;
  /** Whether the server can search the web for its answers. */
  readonly web_search: boolean;
  /** Whether it may tell what is left of an account. */
  readonly quota: boolean;
  /** Whether it reads texts aloud, and the voices that it is known to have. */
  readonly speech: boolean;
  readonly voices: readonly VoiceEntry[];
}

interface VoiceEntry {
  readonly id: string;
  readonly label: string;
  /** ISO 639-1. */
  readonly language: string;
}

/** A model as `GET models` lists it. */
export interface ModelEntry {
  readonly id: string;
  readonly label: string;
  readonly default: boolean;
  readonly image: boolean;
  readonly vision: boolean;
  readonly audio: boolean;
  readonly video: boolean;
  readonly tools: boolean;
  readonly reasoning: boolean;
  readonly type: string;
  readonly context_length?: number;
  /** Dollars a million tokens, where the server knows. */
  readonly price?: { readonly input?: number; readonly output?: number };
  readonly tags: readonly string[];
  readonly providers: readonly string[];
}

/** What the server offers. `failed`: it could not be asked, and there is no older list either. */
export interface CatalogState {
  readonly status: 'loading' | 'ready' | 'failed';
  readonly providers: readonly ProviderEntry[];
  /** By the provider's name. */
  readonly models: Readonly<Record<string, readonly ModelEntry[]>>;
  /** What is known of the models that providers have for the person's own keys, by the provider's name. */
  readonly own: Readonly<Record<string, 'asking' | 'known' | 'failed'>>;
}

/** A list that came, or did not; of all providers, or of one. */
export type CatalogAction =
  | {
      readonly type: 'catalog/loaded';
      readonly providers: CatalogState['providers'];
      readonly models: CatalogState['models'];
      /** Providers for which the person has a key of their own. */
      readonly withKey: readonly string[];
    }
  | { readonly type: 'catalog/failed' }
  /** What one provider offers to the holder of a key of their own. */
  | { readonly type: 'catalog/provider'; readonly name: string; readonly models: readonly ModelEntry[] }
  /** It did not say what it offers to them. What it said before stays known, unless it was to the holder of another key. */
  | { readonly type: 'catalog/mute'; readonly name: string; readonly isNewKey?: boolean };

/** Before the server was asked. */
export const initialCatalog: CatalogState = { status: 'loading', providers: [], models: {}, own: {} };

/** A list that did not come takes nothing away of one that is there. */
export function reduceCatalog(state: CatalogState, action: CatalogAction): CatalogState {
  switch (action.type) {
    case 'catalog/loaded':
      return afterList(state, action);
    case 'catalog/failed':
      return state.status === 'ready' ? state : { ...state, status: 'failed' };
    case 'catalog/provider':
      return {
        ...state,
        models: { ...state.models, [action.name]: action.models },
        own: { ...state.own, [action.name]: 'known' },
      };
    case 'catalog/mute':
      if (state.own[action.name] === 'known' && action.isNewKey !== true) return state;
      return { ...state, own: { ...state.own, [action.name]: 'failed' } };
  }
}

/** Of the providers that know the person's own key the list says nothing: what they said before stays until they say more. */
function afterList(before: CatalogState, list: Extract<CatalogAction, { type: 'catalog/loaded' }>): CatalogState {
  const models = { ...list.models };
  const own: Record<string, CatalogState['own'][string]> = {};
  for (const name of list.withKey) {
    models[name] = before.models[name] ?? models[name] ?? [];
    own[name] = before.own[name] ?? 'asking';
  }
  return { status: 'ready', providers: list.providers, models, own };
}

/** What a person picked. An empty provider leaves the choice to the server. */
export interface Choice {
  readonly provider: string;
  readonly model: string;
}

/** Leaves all to the server. */
export const AUTOMATIC: Choice = { provider: '', model: '' };

/** A model of the list, with the provider that offers it there. */
export interface Offer extends Choice {
  readonly entry: ModelEntry;
  readonly providerLabel: string;
}

/** Whether the server searches the web; as long as nobody knows, it does. */
export function canSearch({ status, providers }: CatalogState): boolean {
  return status !== 'ready' || providers.some((provider) => provider.web_search);
}

/** The kinds of models that answer a chat: those that draw or film do so with what they made. */
const ANSWERING: ReadonlySet<string> = new Set(['chat', 'image', 'video']);

/** Everything that can chat or make media, in the order of the providers. */
export function offersOf(catalog: CatalogState): readonly Offer[] {
  const labels = new Map(catalog.providers.map(({ name, label }) => [name, label]));
  return Object.entries(catalog.models).flatMap(([provider, entries]) =>
    entries
      .filter(({ type }) => ANSWERING.has(type))
      .map((entry) => ({ provider, model: entry.id, entry, providerLabel: labels.get(provider) ?? provider })),
  );
}

/** Where somebody gives a provider what it wants: its key on the page or, of one that was set up without any, in the file. */
export function wayIn(provider: ProviderEntry | undefined): 'key' | 'cookies' | 'file' {
  if (provider === undefined) return 'key';
  if (provider.cookie_domain !== null) return 'cookies';
  return provider.auth ? 'key' : 'file';
}

/** Whether nobody offers anything, as far as that is known. */
export function hasNone(catalog: CatalogState): boolean {
  const isAsking = Object.values(catalog.own).includes('asking');
  return catalog.status === 'ready' && !isAsking && offersOf(catalog).length === 0;
}

/** The offer like `wish`, if there is one. */
export function findOffer(catalog: CatalogState, wish: Choice | undefined): Offer | undefined {
  if (wish === undefined) return undefined;
  return offersOf(catalog).find(({ provider, model }) => provider === wish.provider && model === wish.model);
}

/**
 * Whether it is known that nobody offers what a person picked. What the server shall find may have names that no list has, and
 * what there is for a key of their own is known only once its provider has said so.
 */
export function isGone(catalog: CatalogState, choice: Choice): boolean {
  if (catalog.status !== 'ready' || choice.provider === '') return false;
  return (catalog.own[choice.provider] ?? 'known') === 'known' && findOffer(catalog, choice) === undefined;
}

/** The wish unless nobody can meet it, else the best there is. */
export function settle(catalog: CatalogState, wish: Choice | undefined): Choice {
  if (wish !== undefined && !isGone(catalog, wish)) return { provider: wish.provider, model: wish.model };
  for (const [provider, entries] of Object.entries(catalog.models)) {
    const chats = entries.filter(({ type }) => type === 'chat');
    const best = chats.find((entry) => entry.default) ?? chats[0];
    if (best !== undefined) return { provider, model: best.id };
  }
  return AUTOMATIC;
}

/** Whether `offer` has all the words of a search in its names. */
export function fits(offer: Offer, search: string): boolean {
  const text = `${offer.providerLabel} ${offer.provider} ${offer.entry.label} ${offer.model}`.toLowerCase();
  const words = search.trim().toLowerCase().split(/\s+/);
  return words.every((word) => text.includes(word));
}
