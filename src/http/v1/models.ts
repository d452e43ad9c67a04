import { isChatModel, type Model } from '../../core/model.ts';
import { isReady, type Provider } from '../../core/provider.ts';
import { providerNotFound } from '../../routing/select.ts';
import type { Deps, Handler } from '../deps.ts';
import { findModel, unknownModel } from '../find-model.ts';
import { clientKeys } from '../keys.ts';
import { abilityFields } from '../model-fields.ts';
import { ChatFields } from '../wire.ts';

/** `GET /v1/models`: every model once, then the aliases, then the names of the providers, which serve as models too. */
export function listModels(deps: Deps): Handler {
  return async () => {
    const entries = new Map<string, Record<string, unknown>>();
    for (const { provider, models } of await deps.router.catalog.list()) {
      for (const model of models) {
        const known = entries.get(model.id);
        if (known === undefined)
          entries.set(model.id, { ...modelObject(model, provider), provider: false, providers: [provider.id] });
        else (known['providers'] as string[]).push(provider.id);
      }
    }
    for (const [name, targets] of deps.config().aliases) {
      entries.set(name, { ...plainObject(name, 'sluice'), provider: false, alias_of: targets });
    }
    for (const provider of deps.router.catalog.providers.filter(isReady)) {
      if (!entries.has(provider.id))
        entries.set(provider.id, { ...plainObject(provider.id, provider.label), provider: true });
    }
    return { object: 'list', data: [...entries.values()] };
  };
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
    const { catalog } = deps.router;
    const provider = requireProvider(deps, (request.params as { provider: string }).provider);
    const { apiKey, bearer } = clientKeys(request, undefined);
    const key = typeof apiKey === 'string' ? apiKey : bearer;
    const needsOwn = provider.auth.kind === 'api_key' && !provider.auth.configured;
    const { models, error } =
      key !== undefined && needsOwn
        ? { models: await catalog.listWith(provider, { apiKey: key }), error: undefined }
        : await catalog.offer(provider);
    if (error !== undefined && models.length === 0) throw error;
    // `count` is the number of back ends, which some clients show.
    return { object: 'list', data: models.map((model) => ({ ...modelObject(model, provider), count: 1 })) };
  };
}

/** `GET /v1/providers` */
export function listProviders(deps: Deps): Handler {
  return async () => deps.router.catalog.providers.map(providerObject);
}

/** `GET /v1/providers/<name>` */
export function getProvider(deps: Deps): Handler {
  return async (request) => {
    const provider = requireProvider(deps, (request.params as { provider: string }).provider);
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

function requireProvider(deps: Deps, name: string): Provider {
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
