import { SluiceError } from '../core/errors.ts';
import { isReady, type Provider } from '../core/provider.ts';
import type { Catalog } from './catalog.ts';

/** A provider and its own name for a model. */
export interface Target {
  readonly provider: Provider;
  readonly model: string;
}

/** What decides where a request goes. */
export interface Wish {
  readonly model: string;
  /** Named by path or body; tried in order. */
  readonly providers: readonly string[];
  readonly ignored: readonly string[];
}

/** What the operator says about it. */
export interface Preferences {
  readonly defaultProvider?: string;
  readonly defaultModel?: string;
  readonly aliases: ReadonlyMap<string, readonly string[]>;
}

/**
 * Where a request goes, in order of preference. The first of these that applies decides:
 * an explicit provider, an alias, the configured default provider, a model that names a provider (`mock`, `mock:model`,
 * `mock/model`), a model that some providers are known to offer, and for no model at all the configured default or the
 * first provider.
 *
 * Returns at once when nothing has to be asked, which is the case for every explicit wish with a model.
 */
export function select(
  wish: Wish,
  preferences: Preferences,
  catalog: Catalog,
): readonly Target[] | Promise<readonly Target[]> {
  const { model, providers } = wish;
  if (providers.length > 0) return explicit(providers, model, preferences, catalog);
  const alias = preferences.aliases.get(model);
  if (alias !== undefined) return ofAlias(alias, wish, catalog);
  if (preferences.defaultProvider !== undefined)
    return explicit([preferences.defaultProvider], model, preferences, catalog);
  if (model === '') return withoutModel(wish, preferences, catalog);
  return byModel(model, wish, catalog);
}

function explicit(
  names: readonly string[],
  model: string,
  preferences: Preferences,
  catalog: Catalog,
): readonly Target[] | Promise<readonly Target[]> {
  const providers = names.map((name) => named(name, catalog));
  if (model === '') return Promise.all(providers.map((provider) => defaultOf(provider, catalog)));
  return providers.map((provider) => ({ provider, model: modelFor(provider, model, preferences, catalog) }));
}

/** A provider named beside an alias or `provider/model` gets its own name for the model; anything else unchanged. */
function modelFor(provider: Provider, model: string, preferences: Preferences, catalog: Catalog): string {
  for (const name of preferences.aliases.get(model) ?? [model]) {
    const target = qualified(name, catalog);
    if (target?.provider === provider && target.model !== '') return target.model;
  }
  return model;
}

async function ofAlias(names: readonly string[], wish: Wish, catalog: Catalog): Promise<readonly Target[]> {
  const targets = await Promise.all(names.map((name) => byModel(name, wish, catalog)));
  return targets.flat();
}

function byModel(model: string, wish: Wish, catalog: Catalog): readonly Target[] | Promise<readonly Target[]> {
  const provider = catalog.provider(model);
  if (provider !== undefined) return defaultOf(provider, catalog).then((target) => [target]);
  const target = qualified(model, catalog);
  if (target !== undefined) return [target];
  const offering = catalog.offering(model);
  if ('then' in offering) return offering.then((found) => offered(model, found, wish));
  return offered(model, offering, wish);
}

/** `provider:model` or `provider/model`, when the part in front is a provider's name. */
function qualified(model: string, catalog: Catalog): Target | undefined {
  for (const separator of [':', '/']) {
    const at = model.indexOf(separator);
    if (at <= 0 || at === model.length - 1) continue;
    const provider = catalog.provider(model.slice(0, at));
    if (provider !== undefined) return { provider, model: model.slice(at + 1) };
  }
  return undefined;
}

/** Those without key needs first; the operator's order otherwise. */
function offered(model: string, offering: readonly Provider[], wish: Wish): readonly Target[] {
  const usable = offering.filter((provider) => provider.chat !== undefined && !isIgnored(provider, wish));
  if (usable.length === 0) {
    throw new SluiceError(
      'model_not_found',
      `No provider offers the model '${model}'. GET /v1/models lists what there is.`,
      {
        param: 'model',
      },
    );
  }
  const keyless = usable.filter((provider) => provider.auth.kind === 'none');
  const others = usable.filter((provider) => provider.auth.kind !== 'none');
  return [...keyless, ...others].map((provider) => ({ provider, model }));
}

async function withoutModel(wish: Wish, preferences: Preferences, catalog: Catalog): Promise<readonly Target[]> {
  const preferred = preferences.defaultModel;
  if (preferred !== undefined && preferred !== '') {
    const alias = preferences.aliases.get(preferred);
    return alias === undefined ? byModel(preferred, wish, catalog) : ofAlias(alias, wish, catalog);
  }
  for (const provider of catalog.providers) {
    if (provider.chat === undefined || !isReady(provider) || isIgnored(provider, wish)) continue;
    try {
      return [await defaultOf(provider, catalog)];
    } catch {
      // It lists nothing now; the next one may.
    }
  }
  throw new SluiceError(
    'model_not_found',
    'No provider can answer: set a key such as OPENAI_API_KEY, or add a provider to sluice.yaml. "sluice doctor" explains.',
  );
}

async function defaultOf(provider: Provider, catalog: Catalog): Promise<Target> {
  return { provider, model: await catalog.defaultModel(provider) };
}

function named(name: string, catalog: Catalog): Provider {
  const provider = catalog.provider(name);
  if (provider !== undefined) return provider;
  throw new SluiceError(
    'provider_not_found',
    `Provider '${name}' not found. GET /backend-api/v2/providers lists what there is.`,
    {
      param: 'provider',
    },
  );
}

function isIgnored(provider: Provider, wish: Wish): boolean {
  return wish.ignored.some((name) =>
    [provider.id, provider.label].some((own) => own.toLowerCase() === name.toLowerCase()),
  );
}
