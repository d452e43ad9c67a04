import type { RoutingConfig } from '../config/config.ts';
import type { Choice } from '../config/kinds.ts';
import type { Credentials } from '../core/call.ts';
import { SluiceError } from '../core/errors.ts';
import { knownName } from '../core/known-names.ts';
import { type Ability, isReady, type Provider } from '../core/provider.ts';
import type { Catalog } from './catalog.ts';

/** A provider and its own name for a model. */
export interface Target {
  readonly provider: Provider;
  readonly model: string;
  /** Its share where a target is chosen by weight; absent: 1. */
  readonly weight?: number;
  /** Which of the provider's several keys. */
  readonly key?: number;
  /** The client chose this provider: by its name, or by a model that leads there alone. Its key may be for it. */
  readonly isChosen?: boolean;
}

/** The last target that was named: most have the name of the one before. */
let last:
  | { readonly id: string; readonly model: string; readonly key: number | undefined; readonly name: string }
  | undefined;

/** One word for a target, the same for equal ones. */
export function nameOf({ provider: { id }, model, key }: Target): string {
  if (last === undefined || last.id !== id || last.model !== model || last.key !== key)
    last = { id, model, key, name: knownName(`${id} ${key ?? ''} ${model}`) };
  return last.name;
}

/** What decides where a request goes. */
export interface Wish {
  readonly model: string;
  /** Named by path or body; tried in order. */
  readonly providers: readonly string[];
  readonly ignored: readonly string[];
  /** Models to try when the first one cannot answer, in order. */
  readonly fallbacks?: readonly string[];
  /** What the provider must be able to do; absent: chat. */
  readonly ability?: Ability;
  /** Where the client finds what providers there are; absent: `/v1/providers`. */
  readonly listing?: string;
}

/** What the operator says about it. */
export interface Preferences {
  readonly defaultProvider?: string;
  readonly defaultModel?: string;
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  readonly routing: RoutingConfig;
}

/** Puts targets that can do the same in the order in which they shall be tried. */
export type Arrange = (targets: readonly Target[], choice: Choice) => readonly Target[];

/** Which key the client has for a provider that it chose, or did not. */
export type CredentialsOf = (provider: Provider, isChosen: boolean) => Credentials;

/**
 * Where a request goes, in order of preference. The first of these that applies decides:
 * an explicit provider, an alias, the configured default provider, a model that names a provider (`mock`, `mock:model`,
 * `mock/model`), a model that some providers are known to offer, and for no model at all the configured default or the
 * first provider. A provider that waits for a key is only meant where nobody offers a model of just that name.
 *
 * Each of the wish's fallbacks is looked up in the same way, and follows; one that names its provider means that one, whatever
 * the default is. Returns at once when nothing has to be asked, which is the case for every explicit wish with a model.
 */
export function select(
  wish: Wish,
  preferences: Preferences,
  catalog: Catalog,
  credentialsOf: CredentialsOf,
  arrange: Arrange = (targets) => targets,
): readonly Target[] | Promise<readonly Target[]> {
  const { fallbacks = [] } = wish;
  if (fallbacks.length === 0) return first({ wish, preferences, catalog, credentialsOf, arrange });
  const models = wish.model === '' ? fallbacks : [wish.model, ...fallbacks];
  return firstOfEach(
    models.map((model, index) => ({
      ...{ wish: { ...wish, model }, preferences, catalog, credentialsOf, arrange },
      isFallback: index > 0 || wish.model === '',
    })),
  );
}

/** What nobody offers is passed over while there is something else. */
async function firstOfEach(selections: readonly Selection[]): Promise<readonly Target[]> {
  const found = await Promise.allSettled(selections.map(async (selection) => first(selection)));
  const targets = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (targets.length === 0) throw found.find((each) => each.status === 'rejected')?.reason;
  const seen = new Set<string>();
  return targets.filter(({ provider, model }) => {
    const name = `${provider.id} ${model}`;
    return !seen.has(name) && seen.add(name);
  });
}

function first(selection: Selection): readonly Target[] | Promise<readonly Target[]> {
  const { wish, preferences, catalog, isFallback = false } = selection;
  const { model, providers } = wish;
  if (providers.length > 0) return explicit(providers, selection, true);
  const alias = preferences.aliases.get(model);
  if (alias !== undefined) return ofAlias(model, alias, selection);
  const namesItsOwn = isFallback && meantBy(model, catalog) !== undefined;
  const { defaultProvider } = preferences;
  if (defaultProvider !== undefined && !namesItsOwn && !isIgnored(catalog.provider(defaultProvider), wish))
    return byDefault(defaultProvider, selection);
  if (model === '') return withoutModel(selection);
  return byModel(model, selection);
}

/** The operator's default answers whatever it can; what it has no model for is anybody's. */
function byDefault(provider: string, selection: Selection): readonly Target[] | Promise<readonly Target[]> {
  const { ability = 'chat' } = selection.wish;
  if (ability !== 'chat') return taskByDefault(provider, selection);
  return explicit([provider], selection, !isForAnother(provider, selection));
}

/** A default is chosen for its chats, so for anything else a model that somebody is known to offer says more. */
async function taskByDefault(name: string, selection: Selection): Promise<readonly Target[]> {
  const { wish } = selection;
  const [provider] = named([name], selection);
  const isAble = provider !== undefined && canServe(provider, wish);
  try {
    if (wish.model !== '') return await byModel(wish.model, selection);
    return isAble ? [await defaultOf(provider, selection, false)] : await withoutModel(selection);
  } catch (error) {
    if (!isAble || !(error instanceof SluiceError) || error.code !== 'model_not_found') throw error;
    if (wish.model === '') return withoutModel(selection);
    // A client's key goes along with the wish for a picture, as with a chat.
    return [{ provider, model: wish.model, isChosen: wish.ability === 'image' }];
  }
}

interface Selection {
  readonly wish: Wish;
  readonly preferences: Preferences;
  readonly catalog: Catalog;
  readonly credentialsOf: CredentialsOf;
  readonly arrange: Arrange;
  /** It stands in the request's own list of fallbacks. */
  readonly isFallback?: boolean;
  /** The model's name is the operator's, not the client's. */
  readonly isAlias?: boolean;
}

function explicit(
  words: readonly string[],
  selection: Selection,
  isChosen: boolean,
): readonly Target[] | Promise<readonly Target[]> {
  const providers = named(words, selection);
  const { model } = selection.wish;
  if (model === '') return Promise.all(providers.map((provider) => ownDefault(provider, selection, isChosen)));
  return providers.map((provider) => ({ provider, model: modelFor(provider, selection), isChosen }));
}

/** Whether the client does not mean the default provider: it says nothing, or names another one. */
function isForAnother(name: string, { wish: { model }, catalog }: Selection): boolean {
  const meant = meantBy(model, catalog);
  return model === '' || (meant !== undefined && meant.provider !== catalog.provider(name));
}

/**
 * The providers of a list separated by spaces. Labels may have spaces themselves, so the longest name counts. A name that nobody
 * has is an error, also beside others: it may be a label that was mistyped, whose last word is somebody else.
 */
function named(words: readonly string[], { catalog, wish }: Selection): readonly Provider[] {
  const found: Provider[] = [];
  for (let start = 0; start < words.length; ) {
    let end = words.length;
    let provider = catalog.provider(words.slice(start, end).join(' '));
    while (provider === undefined && end - start > 1) {
      end -= 1;
      provider = catalog.provider(words.slice(start, end).join(' '));
    }
    if (provider === undefined) throw providerNotFound(words[start] ?? '', wish.listing);
    found.push(provider);
    start = end;
  }
  return found;
}

/** A provider named beside an alias or `provider/model` gets its own name for the model; anything else unchanged. */
function modelFor(provider: Provider, { wish: { model }, preferences, catalog }: Selection): string {
  for (const name of preferences.aliases.get(model) ?? [model]) {
    const target = catalog.qualified(name);
    if (target?.provider === provider) return target.model;
  }
  return model;
}

/**
 * All that an alias stands for; what nobody offers now is passed over while there is something else. An alias with a choice
 * of its own is a group of equals, any other one a chain.
 */
async function ofAlias(alias: string, names: readonly string[], selection: Selection): Promise<readonly Target[]> {
  const rule = selection.preferences.routing.aliases.get(alias);
  const found = await Promise.allSettled(
    names.map(async (name) => {
      const targets = await byModel(name, { ...selection, isAlias: true });
      const weight = rule?.weights.get(name);
      return weight === undefined ? targets : targets.map((target) => ({ ...target, weight }));
    }),
  );
  const targets = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (targets.length > 0) {
    // What an operator's name stands for is the client's choice only where there is no other.
    const all = targets.map((target) => ({ ...target, isChosen: targets.length === 1 }));
    return rule === undefined ? all : selection.arrange(all, rule.choice);
  }
  throw found.find((each) => each.status === 'rejected')?.reason;
}

function byModel(model: string, selection: Selection): readonly Target[] | Promise<readonly Target[]> {
  const { catalog, wish, isAlias = false } = selection;
  const named = meantBy(model, catalog);
  // What the client itself names, it means.
  const meant = isAlias && isIgnored(named?.provider, wish) ? undefined : named;
  if (meant !== undefined && isReady(meant.provider)) return completed(meant, selection);
  const choose = (offering: readonly Provider[]) => {
    const targets = offered(model, offering, selection);
    if (targets.length > 0) return targets;
    if (meant !== undefined) return completed(meant, selection);
    const isAble = offering.length === 0 || offering.some((each) => canServe(each, selection.wish));
    if (!isAble) throw unable(selection.wish, `No provider of the model '${model}'`, 'model');
    if (offering.length > 0) throw allIgnored(`that offer the model '${model}'`);
    const [waiting] = catalog.waitingFor(model);
    const what =
      waiting === undefined
        ? `No provider offers the model '${model}'. GET /v1/models lists what there is.`
        : `No provider that has a key offers the model '${model}'. Ask for '${waiting.id}/${model}' and send its key as api_key.`;
    throw new SluiceError('model_not_found', what, { param: 'model' });
  };
  const offering = catalog.offering(model, (provider) => isUsable(provider, wish));
  return 'then' in offering ? offering.then(choose) : choose(offering);
}

/** A target, with the provider's default where the model is left open. */
function completed(target: Target, selection: Selection): readonly Target[] | Promise<readonly Target[]> {
  const { provider, model } = target;
  const isChosen = selection.isAlias !== true;
  return model === ''
    ? ownDefault(provider, selection, isChosen).then((own) => [own])
    : [{ provider, model, isChosen }];
}

/** What a model's name says of a provider: it is one's name, or has one in front. */
function meantBy(model: string, catalog: Catalog): Target | undefined {
  const provider = catalog.provider(model);
  return provider === undefined ? catalog.qualified(model) : { provider, model: '' };
}

/** Those without key needs first and the operator's order otherwise, unless the operator chose another way to choose. */
function offered(model: string, offering: readonly Provider[], selection: Selection): readonly Target[] {
  const { wish, preferences, arrange } = selection;
  const { choice, weights } = preferences.routing;
  const usable = offering.filter((provider) => isUsable(provider, wish));
  const ordered =
    usable.length < 2 ? usable : usable.toSorted((one, other) => Number(needsMore(one)) - Number(needsMore(other)));
  const targets = ordered.map((provider) => {
    const weight = weights.get(provider.id);
    // A model that one provider alone has is a choice, too.
    const target = { provider, model, isChosen: usable.length === 1 };
    return weight === undefined ? target : { ...target, weight };
  });
  return arrange(targets, choice);
}

function isUsable(provider: Provider, wish: Wish): boolean {
  return canServe(provider, wish) && !isIgnored(provider, wish);
}

/** Whether a provider wants a key or cookies. */
function needsMore({ auth }: Provider): boolean {
  return auth.kind !== 'none';
}

/** What the operator's word for a model, an alias or a name, leads to. */
function ofOperator(model: string, selection: Selection): readonly Target[] | Promise<readonly Target[]> {
  const alias = selection.preferences.aliases.get(model);
  return alias === undefined ? byModel(model, { ...selection, isAlias: true }) : ofAlias(model, alias, selection);
}

async function withoutModel(selection: Selection): Promise<readonly Target[]> {
  const { wish, preferences, catalog } = selection;
  const preferred = preferences.defaultModel;
  // It is a chat model.
  if (preferred !== undefined && preferred !== '' && (wish.ability ?? 'chat') === 'chat') {
    try {
      const targets = await ofOperator(preferred, selection);
      return targets.map((target) => ({ ...target, isChosen: false }));
    } catch (error) {
      const mayBeIgnored = wish.ignored.length > 0 && error instanceof SluiceError && error.code === 'model_not_found';
      if (!mayBeIgnored) throw error;
    }
  }
  for (const provider of catalog.providers) {
    if (!isMeant(provider, wish) || !isReady(provider) || isIgnored(provider, wish)) continue;
    try {
      return [await defaultOf(provider, selection, false)];
    } catch {
      // It lists nothing now; the next one may.
    }
  }
  if (catalog.providers.some((each) => isMeant(each, wish) && isReady(each) && isIgnored(each, wish)))
    throw allIgnored('that could answer');
  if (wish.ability !== undefined && wish.ability !== 'chat') throw unable(wish, 'No provider that is on');
  throw new SluiceError(
    'model_not_found',
    'No provider can answer: set a key such as OPENAI_API_KEY, or add a provider to sluice.yaml. "sluice doctor" explains.',
  );
}

/** A provider that is named may itself know a model for what its listing does not tell. */
async function ownDefault(provider: Provider, selection: Selection, isChosen: boolean): Promise<Target> {
  const { ability = 'chat' } = selection.wish;
  try {
    return await defaultOf(provider, selection, isChosen);
  } catch (error) {
    if (ability === 'chat' || ability === 'image') throw error;
    if (error instanceof SluiceError && error.code === 'model_not_found') return { provider, model: '', isChosen };
    throw error;
  }
}

async function defaultOf(
  provider: Provider,
  { wish, catalog, credentialsOf }: Selection,
  isChosen: boolean,
): Promise<Target> {
  const { chat, image } = provider;
  // Whoever only draws answers a chat with a picture.
  const ability = chat === undefined && image !== undefined && wish.ability === undefined ? 'image' : wish.ability;
  return {
    provider,
    model: await catalog.defaultModel(provider, credentialsOf(provider, isChosen), ability),
    isChosen,
  };
}

/** Whether one of a provider's models can serve a wish: those that draw answer chats too, and some chat models draw (`drawing.ts`). */
function canServe(provider: Provider, { ability = 'chat' }: Wish): boolean {
  if (provider[ability] !== undefined) return true;
  return ability === 'chat' ? provider.image !== undefined : ability === 'image' && provider.chat !== undefined;
}

/** The same where no model is named: a chat is not meant for those that only draw. */
function isMeant(provider: Provider, wish: Wish): boolean {
  const { ability = 'chat' } = wish;
  return ability === 'chat' ? provider.chat !== undefined : canServe(provider, wish);
}

/** What a provider does that has an ability, and who could. */
const DEEDS: Readonly<Record<Ability, readonly [deed: string, help: string]>> = {
  chat: ['chats', ''],
  image: [
    'makes pictures',
    ' Set a key such as OPENAI_API_KEY, GEMINI_API_KEY, FAL_KEY or STABILITY_API_KEY, or add a server that draws to sluice.yaml.',
  ],
  speech: ['reads texts aloud', ' The embedded voice does, with embedded.enabled in sluice.yaml.'],
  transcribe: [
    'transcribes audio',
    ' Set OPENAI_API_KEY, GROQ_API_KEY, GEMINI_API_KEY, DEEPGRAM_API_KEY, ELEVENLABS_API_KEY or ASSEMBLYAI_API_KEY; or, for' +
      ' this machine alone, run a server with a Whisper model that speaks the OpenAI wire format and add it to sluice.yaml.',
  ],
  embed: [
    'makes embeddings',
    ' Set a key such as OPENAI_API_KEY, or put a GGUF file of an embedding model into the models folder.',
  ],
  moderate: ['moderates', ' Set OPENAI_API_KEY or MISTRAL_API_KEY.'],
  rerank: [
    'reranks',
    ' Set COHERE_API_KEY, JINA_API_KEY or VOYAGE_API_KEY, or add a llama.cpp or vLLM server with a reranker to sluice.yaml.',
  ],
};

function unable({ ability = 'chat' }: Wish, who: string, param?: 'model'): SluiceError {
  const [deed, help] = DEEDS[ability];
  return new SluiceError('not_supported', `${who} ${deed}.${help}`, param === undefined ? {} : { param });
}

/** @param listing the path where the client finds those that there are */
export function providerNotFound(name: string, listing = '/v1/providers'): SluiceError {
  // `/api/v1` is the base URL of some vendors, and here the place of a provider that is called so.
  const hint = name === 'v1' ? ': the base URL ends with /v1 here, not with /api/v1' : '';
  return new SluiceError(
    'provider_not_found',
    `Provider '${name.slice(0, 256)}' not found${hint}. GET ${listing} lists what there is.`,
    { param: 'provider' },
  );
}

function allIgnored(which: string): SluiceError {
  return new SluiceError('model_not_found', `The request ignores all providers ${which}.`, { param: 'ignored' });
}

/** Whether a client wants to have nothing from whoever would be chosen for it. */
function isIgnored(provider: Provider | undefined, { ignored }: Wish): boolean {
  if (provider === undefined || ignored.length === 0) return false;
  const own = [provider.id.toLowerCase(), provider.label.toLowerCase()];
  return ignored.some((name) => own.includes(name.toLowerCase()));
}
