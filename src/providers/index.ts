import type { Config, Limits, ProviderConfig } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import type { Provider, ProviderCookies } from '../core/provider.ts';
import { createFetch } from '../outbound/fetch.ts';
import { createUpstreamClient, type UpstreamClient } from '../outbound/upstream.ts';
import { vendors } from './ai-sdk/index.ts';
import { createEmbeddedProvider } from './embedded/provider.ts';
import { createOpenAiProvider } from './openai/adapter.ts';
import { withResponsesDetour } from './openai/responses-detour.ts';
import { isSpeechKind, speechVendors, withOpenAiSpeech } from './speech/index.ts';

/** What providers are made with. */
export interface ProviderDeps {
  readonly client: UpstreamClient;
  /** For vendor libraries, which insist on it. */
  readonly fetch: typeof fetch;
  readonly cookies: ProviderCookies;
  readonly limits: () => Limits;
  readonly log: Logger;
}

/** Where nothing can be uploaded. */
const NO_COOKIES: ProviderCookies = { has: () => false, header: () => undefined };

export function createProviderDeps(
  limits: () => Limits,
  log: Logger,
  cookies: ProviderCookies = NO_COOKIES,
): ProviderDeps {
  return { client: createUpstreamClient(limits), fetch: createFetch(limits), cookies, limits, log };
}

/** The provider of a configuration entry. Nothing is loaded or connected before it is first asked. */
export function createProvider(config: ProviderConfig, deps: ProviderDeps): Provider {
  if (isSpeechKind(config.kind)) return speechVendors[config.kind](config, deps);
  if (config.kind !== 'openai') return vendors[config.kind](config, deps);
  const { baseUrl } = config;
  if (baseUrl === undefined) throw new Error(`provider ${config.id} has no address`);
  return withOpenAiSpeech(
    withResponsesDetour(createOpenAiProvider({ ...config, baseUrl }, deps), config, deps),
    deps.client,
  );
}

/** All providers of a configuration, in order of preference; local servers are found later. */
export function createProviders(
  config: Config,
  log: Logger,
  deps: ProviderDeps = createProviderDeps(() => config.limits, log),
): Provider[] {
  const providers = config.providers.map((entry) => createProvider(entry, deps));
  if (config.embedded.enabled) providers.push(createEmbeddedProvider(config.embedded, config.dataDir, log));
  return providers;
}
