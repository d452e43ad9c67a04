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

export interface VoiceEntry {
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

export interface CatalogState {
  readonly status: 'loading' | 'ready' | 'failed';
  readonly providers: readonly ProviderEntry[];
  /** By the provider's name. */
  readonly models: Readonly<Record<string, readonly ModelEntry[]>>;
}

export type CatalogAction =
  | {
      readonly type: 'catalog/loaded';
      readonly providers: CatalogState['providers'];
      readonly models: CatalogState['models'];
    }
  | { readonly type: 'catalog/failed' }
  /** What one provider offers to the holder of a key of their own. */
  | { readonly type: 'catalog/provider'; readonly name: string; readonly models: readonly ModelEntry[] };

export const initialCatalog: CatalogState = { status: 'loading', providers: [], models: {} };

export function reduceCatalog(state: CatalogState, action: CatalogAction): CatalogState {
  switch (action.type) {
    case 'catalog/loaded':
      return { status: 'ready', providers: action.providers, models: action.models };
    case 'catalog/failed':
      return state.status === 'ready' ? state : { ...state, status: 'failed' };
    case 'catalog/provider':
      return { ...state, models: { ...state.models, [action.name]: action.models } };
  }
}

/** What a person picked. An empty provider leaves the choice to the server. */
export interface Choice {
  readonly provider: string;
  readonly model: string;
}

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

/** Whether nobody offers anything, as far as that is known. */
export function hasNone(catalog: CatalogState): boolean {
  return catalog.status === 'ready' && offersOf(catalog).length === 0;
}

/** The offer like `wish`, if there is one. */
export function findOffer(catalog: CatalogState, wish: Choice | undefined): Offer | undefined {
  if (wish === undefined) return undefined;
  return offersOf(catalog).find(({ provider, model }) => provider === wish.provider && model === wish.model);
}

/** Whether nobody offers what a person picked. What the server shall find may have names that no list has. */
export function isGone(catalog: CatalogState, choice: Choice): boolean {
  return catalog.status === 'ready' && choice.provider !== '' && findOffer(catalog, choice) === undefined;
}

/** The wish while it can be met or is the server's to meet, else the best there is. */
export function settle(catalog: CatalogState, wish: Choice | undefined): Choice {
  if (wish !== undefined && (wish.provider === '' || catalog.status !== 'ready')) return wish;
  const same = findOffer(catalog, wish);
  if (same !== undefined) return { provider: same.provider, model: same.model };
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
