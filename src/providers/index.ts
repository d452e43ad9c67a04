import type { Limits, ProviderConfig } from '../config/config.ts';
import type { ProxyConfig } from '../config/proxy.ts';
import type { Logger } from '../core/logger.ts';
import type { Provider, ProviderCookies } from '../core/provider.ts';
import { createFetch } from '../outbound/fetch.ts';
import { createGuardedFetch, type GuardedFetch, guardedLimits } from '../outbound/guarded-fetch.ts';
import { createUpstreamClient, type UpstreamClient } from '../outbound/upstream.ts';
import { version } from '../package.ts';
import { Synthesizer } from '../speech/synthesizer.ts';
import { vendors } from './ai-sdk/index.ts';
import { speaks } from './ai-sdk/native.ts';
import type { Engines } from './embedded/engines.ts';
import { imageVendors, isImageKind, withImages } from './image/index.ts';
import { createOpenAiProvider } from './openai/adapter.ts';
import { withResponsesDetour } from './openai/responses-detour.ts';
import { withQuota } from './quota.ts';
import { isSpeechKind, speechVendors, withGoogleSpeech, withOpenAiSpeech } from './speech/index.ts';
import { withOpenAiTasks } from './tasks/index.ts';
import { withObjectSchemas } from './wrapped-schema.ts';

/** What providers are made with. */
export interface ProviderDeps {
  readonly client: UpstreamClient;
  /** For vendor libraries, which insist on it. */
  readonly fetch: typeof fetch;
  /** For addresses that come with a request. */
  readonly guardedFetch: GuardedFetch;
  readonly cookies: ProviderCookies;
  readonly limits: () => Limits;
  readonly log: Logger;
  /** Makes the files of whoever has samples only; its thread begins with the first. */
  readonly synthesizer: Synthesizer;
  /** Whether no other process of ours asks the same upstreams. */
  readonly isAlone: boolean;
  /** Where embedded models run, when not below this process. */
  readonly engines?: Engines | undefined;
}

/** Where nothing can be uploaded. */
const NO_COOKIES: ProviderCookies = { header: () => undefined };

/** Without `cookies` there are none that were uploaded. */
export function createProviderDeps(
  limits: () => Limits,
  log: Logger,
  proxies: ProxyConfig,
  cookies: ProviderCookies = NO_COOKIES,
): ProviderDeps {
  const guardedFetch = createGuardedFetch({ limits: () => guardedLimits(limits()), userAgent: `Sluice/${version}` });
  const client = createUpstreamClient(limits, proxies);
  return {
    ...{ client, fetch: createFetch(client), guardedFetch, cookies, limits, log },
    isAlone: true,
    synthesizer: new Synthesizer(log),
  };
}

/** The provider of a configuration entry. Nothing is loaded or connected before it is first asked. */
export function createProvider(config: ProviderConfig, deps: ProviderDeps): Provider {
  return withQuota(createAble(config, deps), config, deps.client);
}

function createAble(config: ProviderConfig, deps: ProviderDeps): Provider {
  if (isSpeechKind(config.kind)) return speechVendors[config.kind](config, deps);
  if (isImageKind(config.kind)) return imageVendors[config.kind](config, deps);
  if (config.kind !== 'openai') {
    const chatting = vendors[config.kind](config, deps);
    const able =
      config.kind === 'google'
        ? withGoogleSpeech(chatting, config, deps)
        : withObjectSchemas(chatting, (format) => speaks(chatting, format));
    return withImages(able, config, deps);
  }
  const { baseUrl } = config;
  if (baseUrl === undefined) throw new Error(`provider ${config.id} has no address`);
  const chatting = withResponsesDetour(createOpenAiProvider({ ...config, baseUrl }, deps), config, deps);
  const able = withObjectSchemas(chatting, (format) => format === 'openai' || speaks(chatting, format));
  return withImages(withOpenAiSpeech(withOpenAiTasks(able, config, deps), deps.client), config, deps);
}
