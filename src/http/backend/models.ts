import { isChatModel, type Model } from '../../core/model.ts';
import { isReady } from '../../core/provider.ts';
import type { Offer } from '../../routing/catalog.ts';
import { providerNotFound } from '../../routing/select.ts';
import type { Deps, Handler } from '../deps.ts';
import { clientKeys } from '../keys.ts';
import { abilityFields } from '../model-fields.ts';
import { priced } from '../observe/list-prices.ts';
import { validateQuery } from '../validate.ts';
import { sendTagged } from './tagged.ts';
import { type ModelEntry, ModelsQuery, PROVIDERS_PATH, type ProviderEntry } from './wire.ts';

/** `GET models`: provider → its models; or with `?format=list` every model once. 304 while the client has the present list. */
export function models(deps: Deps): Handler {
  return async (request, reply) => {
    const { format } = validateQuery(ModelsQuery, request.query, 'invalid_request');
    const offers = await deps.router.catalog.list();
    const offering = offeringIn(offers);
    const entries = offers.map((offer) => [offer.provider.id, entriesOf(offer, offering)] as const);
    if (format === undefined) {
      const withPrices = entries.map(async ([id, list]) => [id, await priced(id, list, deps.prices)] as const);
      return sendTagged(request, reply, JSON.stringify(Object.fromEntries(await Promise.all(withPrices))));
    }
    // Each model once: whose prices would these be?
    const unique = new Map<string, ModelEntry>();
    for (const entry of entries.flatMap(([, list]) => list)) if (!unique.has(entry.id)) unique.set(entry.id, entry);
    return [...unique.values()];
  };
}

/**
 * `GET models/<provider>`: what it offers, to the holder of a key (`x-api-key`) too. `cache-control: no-cache` asks it anew, as
 * those want who test whether it works.
 */
export function providerModels(deps: Deps): Handler {
  return async (request) => {
    const { catalog } = deps.router;
    const { provider: name } = request.params as { provider: string };
    const provider = catalog.provider(name);
    if (provider === undefined) throw providerNotFound(name, PROVIDERS_PATH);
    const { apiKey } = clientKeys(request, undefined);
    const hasKey = typeof apiKey === 'string' && provider.auth.kind === 'api_key';
    if (hasKey || request.headers['cache-control'] === 'no-cache') {
      const own = { provider, models: await catalog.listWith(provider, hasKey ? { apiKey } : {}) };
      return priced(provider.id, entriesOf(own, offeringIn([own])), deps.prices);
    }
    const offer = await catalog.offer(provider);
    if (offer.error !== undefined && offer.models.length === 0) throw offer.error;
    return priced(provider.id, entriesOf(offer, offeringIn([offer])), deps.prices);
  };
}

/** `GET providers`; 304 while the client has the present list. */
export function providers(deps: Deps): Handler {
  return async (request, reply) => {
    const { router, search, elsewhere } = deps;
    const [offers, all] = await Promise.all([router.catalog.list(), elsewhere?.answers()]);
    const answers = all ?? router.answers;
    const entries = offers.map((offer) => providerEntry(offer, answers.get(offer.provider.id) ?? 0, search.isOn));
    return sendTagged(request, reply, JSON.stringify(entries));
  };
}

function entriesOf({ provider, models: offered }: Offer, offering: Offering): ModelEntry[] {
  const preferred = provider.defaultModel ?? offered.find(isChatModel)?.id;
  return offered.map((model) => {
    const providers = offering.get(model.id) ?? [];
    return {
      id: model.id,
      model: model.id,
      name: model.id,
      label: model.label ?? model.id,
      default: model.id === preferred,
      ...abilityFields(model),
      count: providers.length,
      tags: [...(model.tags ?? [])],
      providers,
    };
  });
}

/** A model's name → the providers that offer it. */
type Offering = ReadonlyMap<string, string[]>;

/** Made once for all models: there may be thousands. */
function offeringIn(offers: readonly Offer[]): Offering {
  const all = new Map<string, string[]>();
  for (const { provider, models } of offers) {
    for (const id of new Set(models.map((each) => each.id))) {
      const providers = all.get(id);
      if (providers === undefined) all.set(id, [provider.id]);
      else providers.push(provider.id);
    }
  }
  return all;
}

/**
 * @param answers how many it has given
 * @param searches whether there is a web search
 */
function providerEntry({ provider, models: offered }: Offer, answers: number, searches: boolean): ProviderEntry {
  const count = (test: (model: Model) => boolean | undefined): number => offered.filter(test).length;
  const { voices = [] } = provider;
  return {
    name: provider.id,
    label: provider.label,
    parent: null,
    image: count((model) => model.image),
    audio: count((model) => model.audio),
    video: count((model) => model.video),
    vision: offered.some((model) => model.vision),
    auth: provider.auth.kind !== 'none',
    login_url: provider.loginUrl ?? null,
    login: false,
    nodriver: false,
    hf_space: false,
    // The front end switches the others off until the user enters a key.
    active_by_default: isReady(provider),
    live: answers,
    origin: provider.origin,
    key_variable: provider.auth.kind === 'api_key' ? (provider.auth.variable ?? null) : null,
    cookie_domain: provider.auth.kind === 'cookies' ? provider.auth.domain : null,
    web_search: searches && provider.chat !== undefined,
    // Every upstream of OpenAI's format could; those with a model for it do.
    speech: voices.length > 0 || (provider.speech !== undefined && offered.some(({ type }) => type === 'speech')),
    quota: provider.quota !== undefined,
    voices: voices.map(({ id, label, language }) => ({ id, label, language })),
  };
}
