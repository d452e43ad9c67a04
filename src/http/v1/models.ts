import type { FastifyRequest } from 'fastify';
import { isChatModel, type Model } from '../../core/model.ts';
import { isReady, type Provider } from '../../core/provider.ts';
import type { Catalog, Offer } from '../../routing/catalog.ts';
import { providerNotFound } from '../../routing/select.ts';
import type { Deps, Handler } from '../deps.ts';
import { findModel, unknownModel } from '../find-model.ts';
import { clientKeys } from '../keys.ts';
import { abilityFields } from '../model-fields.ts';
import { ChatFields } from '../wire.ts';

/** `GET /v1/models`: every model once, then the aliases, then the names of the providers, which serve as models too. */
export function listModels(deps: Deps): Handler {
  return async () => {
    const { catalog } = deps.router;
    const entries = new Map<string, Record<string, unknown>>();
    const offers = await catalog.list();
    for (const { provider, models } of offers) {
      for (const model of models) {
        const known = entries.get(model.id);
        if (known === undefined)
          entries.set(model.id, { ...modelObject(model, provider), provider: false, providers: [provider.id] });
        else (known['providers'] as string[]).push(provider.id);
      }
    }
    for (const [name, targets] of deps.config().aliases) {
      const meant = targets.flatMap((target) => lookUp(target, offers, catalog));
      entries.set(name, { ...plainObject(name, 'sluice'), ...sights(meant), provider: false, alias_of: targets });
    }
    for (const { provider, models } of offers) {
      if (isReady(provider) && !entries.has(provider.id))
        entries.set(provider.id, { ...plainObject(provider.id, provider.label), ...sights(models), provider: true });
    }
    return { object: 'list', data: [...entries.values()] };
  };
}

/** The models that one name of an alias may lead to. */
function lookUp(name: string, offers: readonly Offer[], catalog: Catalog): readonly Model[] {
  const known = offers.flatMap(({ models }) => models.find(({ id }) => id === name) ?? []);
  if (known.length > 0) return known;
  const target = catalog.qualified(name);
  if (target !== undefined) return [catalog.look(target.provider, target.model)];
  const provider = catalog.provider(name);
  return offers.find((offer) => offer.provider === provider)?.models ?? [];
}

/** What front ends want to know of a name that may stand for several models: whether any of them makes, or reads, images. */
function sights(models: readonly Model[]): Record<string, unknown> {
  return { image: models.some(({ image }) => image), vision: models.some(({ vision }) => vision) };
}

/** `GET` or `POST /v1/models/<id>`: by an alias, the model's name, `provider/model`, `provider:model` or a provider's name. */
export function getModel(deps: Deps): Handler {
  return async (request) => {
    const { catalog } = deps.router;
    const id = (request.params as { '*': string })['*'];
    if (deps.config().aliases.has(id)) return plainObject(id, 'sluice');
    const found = await findModel(deps, id);
    if (found !== undefined) return modelObject(found.model, found.provider);
    const provider = catalog.provider(id);
    if (provider !== undefined) return plainObject(provider.id, provider.label);
    throw unknownModel(id);
  };
}

/** `GET /api/<provider>/models`: what one provider offers, to the holder of a key too. */
export function listProviderModels(deps: Deps): Handler {
  return async (request) => {
    const provider = providerInPath(request, deps);
    const { models } = await offerOfOne(provider, request, deps);
    // `count` is the number of back ends, which some clients show.
    return { object: 'list', data: models.map((model) => ({ ...modelObject(model, provider), count: 1 })) };
  };
}

/** What one provider offers, to the holder of a key too. Throws where that is not known. */
export async function offerOfOne(provider: Provider, request: FastifyRequest, deps: Deps): Promise<Offer> {
  const { catalog } = deps.router;
  const { apiKey, bearer } = clientKeys(request, undefined);
  const key = typeof apiKey === 'string' ? apiKey : bearer;
  const needsOwn = provider.auth.kind === 'api_key' && !provider.auth.configured;
  if (key !== undefined && needsOwn) return { provider, models: await catalog.listWith(provider, { apiKey: key }) };
  const offer = await catalog.offer(provider);
  if (offer.error !== undefined && offer.models.length === 0) throw offer.error;
  return offer;
}

/** `GET /v1/providers` */
export function listProviders(deps: Deps): Handler {
  return async () => deps.router.catalog.providers.map(providerObject);
}

/** `GET /v1/providers/<name>` */
export function getProvider(deps: Deps): Handler {
  return async (request) => {
    const provider = providerInPath(request, deps);
    const { models } = await deps.router.catalog.offer(provider);
    const idsOf = (test: (model: Model) => boolean | undefined): string[] =>
      models.filter(test).map((model) => model.id);
    return {
      ...providerObject(provider),
      models: idsOf(isChatModel),
      image_models: idsOf((model) => model.image),
      vision_models: idsOf((model) => model.vision),
      params: ['model', 'messages', 'stream', ...Object.keys(ChatFields), ...(isReady(provider) ? [] : ['api_key'])],
    };
  };
}

/** The provider that `:provider` of the route names. Throws `provider_not_found` where there is none. */
export function providerInPath(request: FastifyRequest, deps: Deps): Provider {
  const { provider: name } = request.params as { provider: string };
  const provider = deps.router.catalog.provider(name);
  if (provider !== undefined) return provider;
  throw providerNotFound(name);
}

function modelObject(model: Model, provider: Provider): Record<string, unknown> {
  return {
    ...plainObject(model.id, provider.id),
    ...abilityFields(model),
  };
}

function plainObject(id: string, owner: string): Record<string, unknown> {
  return { id, object: 'model', created: 0, owned_by: owner };
}

function providerObject(provider: Provider): Record<string, unknown> {
  return { id: provider.id, object: 'provider', created: 0, url: provider.url ?? null, label: provider.label };
}
