import type { Credentials } from '../core/call.ts';
import { SluiceError, toSluiceError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { isChatModel, isSpeechModel, type Model } from '../core/model.ts';
import { noModel } from '../core/no-model.ts';
import { type Ability, isReady, type Provider } from '../core/provider.ts';
import { unlessAborted } from '../core/unless-aborted.ts';
import { capabilitiesOf } from '../providers/openai/capabilities.ts';

/** How long a listing is good for, and how long a failed one is not asked again, in milliseconds. */
const FRESH_MS = 5 * 60_000;
const FAILED_MS = 15_000;
/** How long anybody waits for an upstream's listing. */
const LISTING_MS = 5_000;

/** What one provider offers, or why that is not known. */
export interface Offer {
  readonly provider: Provider;
  readonly models: readonly Model[];
  readonly error?: SluiceError;
}

/** Abilities other than chat → the type of the models that have them. */
const TYPES = {
  speech: 'speech',
  image: 'image',
  transcribe: 'transcription',
  embed: 'embedding',
  moderate: 'moderation',
  rerank: 'rerank',
} as const satisfies Record<Exclude<Ability, 'chat'>, Model['type']>;

interface Listing {
  offer: Offer;
  readonly at: number;
}

/** What the listings at hand say. */
interface Index {
  /** A model's name → the providers that offer it, in their order. */
  readonly offering: ReadonlyMap<string, readonly Provider[]>;
  /** Those whose listing nobody has asked for. */
  readonly missing: readonly Provider[];
}

/** All models of all providers. Listings are asked for when somebody needs them and kept for a while. */
export class Catalog {
  readonly #log: Logger;
  readonly #listings = new Map<Provider, Listing>();
  readonly #asking = new Map<Provider, Promise<Offer>>();
  #providers: readonly Provider[] = [];
  #byName = new Map<string, Provider>();
  #known: Index | undefined;
  /** The models of listings at hand, by name. */
  readonly #models = new WeakMap<readonly Model[], ReadonlyMap<string, Model>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The providers that are on, in order of preference. Listings of those that stay are kept. */
  use(providers: readonly Provider[]): void {
    this.#providers = providers;
    this.#byName = new Map();
    for (const provider of providers) {
      const label = provider.label.toLowerCase();
      if (!this.#byName.has(label)) this.#byName.set(label, provider);
    }
    // Names win over labels.
    for (const provider of providers) this.#byName.set(provider.id.toLowerCase(), provider);
    for (const provider of this.#listings.keys()) if (!providers.includes(provider)) this.#listings.delete(provider);
    this.#known = undefined;
  }

  get providers(): readonly Provider[] {
    return this.#providers;
  }

  /** By exact name, then exact label, whatever the case. */
  provider(name: string): Provider | undefined {
    return this.#byName.get(name.toLowerCase());
  }

  /** `provider:model` or `provider/model`, when the part in front is a provider's name. */
  qualified(name: string): { readonly provider: Provider; readonly model: string } | undefined {
    for (const separator of [':', '/']) {
      const at = name.indexOf(separator);
      if (at <= 0 || at === name.length - 1) continue;
      const provider = this.provider(name.slice(0, at));
      if (provider !== undefined) return { provider, model: name.slice(at + 1) };
    }
    return undefined;
  }

  /** What a provider offers. Never throws: a failure is part of the answer. */
  offer(provider: Provider): Offer | Promise<Offer> {
    const listing = this.#listings.get(provider);
    if (listing === undefined) return this.#ask(provider);
    const age = performance.now() - listing.at;
    if (listing.offer.error !== undefined) return age < FAILED_MS ? listing.offer : this.#ask(provider);
    if (age >= FRESH_MS) void this.#ask(provider); // serve the old one meanwhile
    return listing.offer;
  }

  /** What all providers offer, or those that are meant; those that need a key and have none offer nothing and are not asked. */
  async list(isMeant: (provider: Provider) => boolean = () => true): Promise<readonly Offer[]> {
    const providers = this.#providers.filter(isMeant);
    return Promise.all(
      providers.map((provider) => (isReady(provider) ? this.#offerOfOneInList(provider) : { provider, models: [] })),
    );
  }

  /** Nobody waits for all others' sake once more for one that was too slow: what is known of it will do while it is asked anew. */
  #offerOfOneInList(provider: Provider): Offer | Promise<Offer> {
    const listing = this.#listings.get(provider);
    if (listing?.offer.error?.code !== 'upstream_timeout') return this.offer(provider);
    if (performance.now() - listing.at >= FAILED_MS) void this.#ask(provider);
    return listing.offer;
  }

  /** What a provider offers to the holder of a key. Throws when it cannot be asked; nothing is kept. */
  async listWith(provider: Provider, credentials: Credentials): Promise<readonly Model[]> {
    try {
      return await listed(provider, credentials);
    } catch (error) {
      throw asListingError(error, provider);
    }
  }

  /**
   * The providers that offer a model; waits for listings only when nobody `isUsable` of those at hand has it. Listings that
   * are missing are asked for meanwhile, so that later requests find everybody.
   */
  offering(
    model: string,
    isUsable: (provider: Provider) => boolean = () => true,
  ): readonly Provider[] | Promise<readonly Provider[]> {
    const { offering, missing } = this.#index();
    const known = offering.get(model);
    if (known === undefined || !known.some(isUsable)) {
      const asked = this.#providers.filter(isReady).map((provider) => this.offer(provider));
      return Promise.all(asked).then(() => this.#index().offering.get(model) ?? []);
    }
    for (const provider of missing) void this.offer(provider);
    return known;
  }

  /** Those that wait for a key and would offer a model then, as far as that is known: nobody is asked. */
  waitingFor(model: string): readonly Provider[] {
    return this.#providers.filter(
      (provider) =>
        !isReady(provider) &&
        (provider.configuredModels?.includes(model) ||
          this.#listings.get(provider)?.offer.models.some(({ id }) => id === model)),
    );
  }

  /** What is known of a model at once: from the provider's listing if that is at hand, else what its name says. */
  look(provider: Provider, id: string): Model {
    const models = this.#listings.get(provider)?.offer.models;
    return (models && this.#byId(models).get(id)) ?? described({ id });
  }

  /** The model of a provider for requests that name none, found with the client's own key if there is one. */
  async defaultModel(provider: Provider, credentials: Credentials, ability: Ability = 'chat'): Promise<string> {
    // The default of a provider that chats is a chat model; of one that does several things nobody knows what it is for.
    const isMeant = ability === 'chat' || (provider.chat === undefined && hasOneAbility(provider));
    if (provider.defaultModel !== undefined && isMeant) return provider.defaultModel;
    const { models, error } =
      credentials.apiKey === undefined
        ? await this.offer(provider)
        : { models: await this.listWith(provider, credentials), error: undefined };
    const first =
      models.find((model) => serves(model, ability)) ?? models.find((model) => canAlso(model, ability, provider));
    if (first !== undefined) return first.id;
    throw error ?? noModel(provider);
  }

  #byId(models: readonly Model[]): ReadonlyMap<string, Model> {
    let known = this.#models.get(models);
    if (known === undefined) {
      known = new Map(models.map((model) => [model.id, described(model)]));
      this.#models.set(models, known);
    }
    return known;
  }

  #index(): Index {
    if (this.#known !== undefined) return this.#known;
    const known = new Map<string, Provider[]>();
    const missing: Provider[] = [];
    // Those that wait for a key may have been looked at, but take part only when they are named.
    for (const provider of this.#providers.filter(isReady)) {
      const offer = this.#listings.get(provider)?.offer;
      if (offer === undefined) missing.push(provider);
      for (const model of offer?.models ?? []) {
        const offering = known.get(model.id);
        if (offering === undefined) known.set(model.id, [provider]);
        else offering.push(provider);
      }
    }
    this.#known = { offering: known, missing };
    return this.#known;
  }

  #ask(provider: Provider): Promise<Offer> {
    const running = this.#asking.get(provider);
    if (running !== undefined) return running;
    const asking = this.#askNow(provider).finally(() => this.#asking.delete(provider));
    this.#asking.set(provider, asking);
    return asking;
  }

  async #askNow(provider: Provider): Promise<Offer> {
    let offer: Offer;
    try {
      offer = { provider, models: await listed(provider, {}) };
    } catch (thrown) {
      const error = asListingError(thrown, provider);
      this.#log.warn({ provider: provider.id, error: error.message }, 'a provider did not list its models');
      // An old listing is better than none.
      offer = { provider, models: this.#listings.get(provider)?.offer.models ?? [], error };
    }
    if (this.#providers.includes(provider)) {
      this.#listings.set(provider, { offer, at: performance.now() });
      this.#known = undefined;
    }
    return offer;
  }
}

function serves(model: Model, ability: Ability): boolean {
  if (ability === 'chat') return isChatModel(model);
  return ability === 'speech' ? isSpeechModel(model) : model.type === TYPES[ability];
}

/**
 * Chat models may draw, and whoever makes videos is better than nobody. Where chat is the way to transcribe, a chat model that
 * hears will do.
 */
function canAlso(model: Model, ability: Ability, provider: Provider): boolean {
  if (ability === 'transcribe') return provider.relay === undefined && isChatModel(model) && model.audio === true;
  const { image, type } = described(model);
  return ability === 'image' && (image === true || type === 'video');
}

/** A model of which only the name is known, with what that says about it. */
function described(model: Model): Model {
  return Object.keys(model).length > 1 ? model : { ...capabilitiesOf(model.id), ...model };
}

function hasOneAbility(provider: Provider): boolean {
  return (Object.keys(TYPES) as (keyof typeof TYPES)[]).filter((name) => provider[name] !== undefined).length === 1;
}

/** Asks a provider, which has to answer in time even if it does not heed the signal. */
async function listed(provider: Provider, credentials: Credentials): Promise<readonly Model[]> {
  const signal = AbortSignal.timeout(LISTING_MS);
  return unlessAborted(provider.models(credentials, signal), signal);
}

function asListingError(thrown: unknown, provider: Provider): SluiceError {
  if (thrown instanceof DOMException && thrown.name === 'TimeoutError') {
    return new SluiceError('upstream_timeout', `${provider.label} did not list its models in time.`);
  }
  return toSluiceError(thrown).from(provider.id, '');
}
