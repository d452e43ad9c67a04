import type { AddressInfo } from 'node:net';
import { Buckets } from './buckets/buckets.ts';
import { sweepRegularly } from './buckets/sweep.ts';
import type { Config, ProviderConfig } from './config/config.ts';
import { secretsOf } from './config/secrets.ts';
import { CookieStore } from './cookies/jar.ts';
import type { Logger } from './core/logger.ts';
import { isReady, type Provider } from './core/provider.ts';
import { Secrets } from './core/secrets.ts';
import { createConverter } from './documents/converter.ts';
import { bucketStep } from './enrich/buckets.ts';
import { enrich } from './enrich/enrich.ts';
import { mediaStep } from './enrich/media.ts';
import { memoryStep } from './enrich/memory.ts';
import { thinkTags } from './enrich/think-tags.ts';
import { webSearchStep } from './enrich/web-search.ts';
import { WatchedCalls } from './http/observe/watched-calls.ts';
import { buildServer } from './http/server.ts';
import { Heartbeats } from './http/sse.ts';
import { createMediaStore } from './media/store.ts';
import type { ObserveConfig } from './observe/config.ts';
import { Observer } from './observe/observer.ts';
import type { Otel } from './observe/otel/index.ts';
import { pricedUsage } from './observe/priced-usage.ts';
import { Prices } from './observe/prices.ts';
import { createGuardedFetch } from './outbound/guarded-fetch.ts';
import { createPages } from './outbound/pages.ts';
import { createProviderDeps, type ProviderDeps } from './providers/index.ts';
import { type LocalWatch, watchLocal } from './providers/local.ts';
import { Registry } from './providers/registry.ts';
import { Catalog } from './routing/catalog.ts';
import { Deadlines } from './routing/deadlines.ts';
import { Router } from './routing/router.ts';
import { createWebSearch } from './search/search.ts';
import { openStores } from './stores/index.ts';
import { UsageRecorder } from './usage/recorder.ts';
import { version } from './version.ts';

/** The whole program behind one port. */
export interface App {
  /** Starts to serve. Rejects with Node's error when the address cannot be had. */
  listen(): Promise<{ readonly host: string; readonly port: number }>;
  /** Takes over what may change while we run: providers, aliases, limits, defaults. */
  apply(config: Config): Promise<void>;
  /** Stops accepting, lets answers finish, and cuts what is left after `limits.drainMs` with an error. */
  drain(): Promise<void>;
  /** Answers that are running now. */
  readonly running: number;
  readonly catalog: Catalog;
  readonly providers: () => readonly Provider[];
}

export interface AppOptions {
  /** Told which local servers were found, whenever that changes. */
  readonly onLocal?: (ids: readonly string[]) => void;
  /** What is written down of requests; default: what the configuration says. */
  readonly observe?: ObserveConfig;
}

/** How often connections that have become idle are closed during shutdown, in milliseconds. */
const IDLE_CHECK_MS = 100;

/** Wires everything; the only place that knows all parts. */
export async function createApp(initial: Config, log: Logger, options: AppOptions = {}): Promise<App> {
  let config = initial;
  const limits = () => config.limits;
  const stores = openStores(config.dataDir, log, () => config.limits.keptResponses);
  const cookies = new CookieStore(config.dataDir, log);
  const converter = createConverter({ log });
  const observing = options.observe ?? initial.observe;
  const providerOf = (id: string): ProviderConfig | undefined =>
    [...config.providers, ...config.available].find((each) => each.id === id);
  const otel = await openOtel(observing, providerOf, log);
  const deps = withTraces(createProviderDeps(limits, log, cookies), otel);
  const registry = new Registry(deps, log);
  const catalog = new Catalog(log);
  const deadlines = new Deadlines();
  const secrets = new Secrets();
  const prices = new Prices(providerOf, log);
  const observer = new Observer({ config: observing, records: stores.caches, prices, secrets, log, sink: otel });
  const calls = new WatchedCalls(limits, observer);
  const recorder = new UsageRecorder(pricedUsage(stores.usage, prices), log);
  const guardedFetch = createGuardedFetch({ userAgent: `Sluice/${version}` });
  const pages = createPages(guardedFetch);
  const buckets = new Buckets({ records: stores.buckets, files: stores.files, converter, pages, limits });
  const sweep = sweepRegularly({ records: stores.buckets, files: stores.files }, log);
  const media = createMediaStore(stores.files, guardedFetch);
  const search = createWebSearch({
    fetch: guardedFetch,
    pages,
    config: () => config.search,
  });
  const originsOf = (id: string): readonly string[] => {
    const address = config.providers.find((entry) => entry.id === id)?.baseUrl;
    return address === undefined ? [] : [new URL(address).origin];
  };
  // The first has the last word on the answer: sources of a search stand behind everything else.
  // Memory is asked with the user's own words, before results of a search and documents stand among them.
  const stepsBefore = [
    ...(observer.step === undefined ? [] : [observer.step]),
    memoryStep(stores.memory),
    webSearchStep(search),
  ];
  // What is kept of an answer is named after the question, so before the text of files becomes a part of it.
  const stepsAfter = [mediaStep({ media, originsOf }), bucketStep(buckets), thinkTags];
  const router = new Router({
    client: deps.client,
    catalog,
    deadlines,
    limits,
    preferences: () => config,
    enrich: (request, call, own) => enrich([...stepsBefore, ...own, ...stepsAfter], request, call),
    onUsage(target, usage, call) {
      const { provider, model } = target;
      recorder.note({ user: call.user, provider: provider.id, label: provider.label, model, usage });
      observer.spent(target, usage, call);
    },
    watcher: observer,
  });
  const server = buildServer({
    config: () => config,
    router,
    deadlines,
    heartbeats: new Heartbeats(() => config.limits.heartbeatMs),
    calls,
    observer,
    prices,
    secrets,
    stores,
    buckets,
    converter,
    media,
    search,
    cookies,
    cookieDomains: () => config.providers.flatMap((entry) => entry.cookieDomain ?? []),
    onCookies: () => take(config),
    log,
    version,
  });
  let local: LocalWatch | undefined;

  function take(next: Config): void {
    config = next;
    secrets.use([...secretsOf(next), ...cookies.values()]);
    catalog.use(registry.providers(next));
    prices.forget();
  }
  take(initial);
  void cookies.ready().then(() => take(config));

  return {
    catalog,
    providers: () => catalog.providers.filter(isReady),
    get running() {
      return calls.running;
    },
    async listen() {
      await server.listen({ host: config.bind.host, port: config.bind.port });
      const { address, port } = server.server.address() as AddressInfo;
      if (config.detectLocal) {
        local = watchLocal(
          (found) => {
            registry.found(found);
            catalog.use(registry.providers(config));
            options.onLocal?.(found.map((entry) => entry.id));
          },
          { ownPort: port, log },
        );
      }
      return { host: address, port };
    },
    async apply(next) {
      take(next);
    },
    async drain() {
      local?.close();
      sweep.stop();
      const closed = server.close();
      await calls.drain(config.limits.drainMs);
      // A connection that becomes idle from here on would hold the server open until its keep-alive ends.
      const idle = setInterval(() => server.server.closeIdleConnections(), IDLE_CHECK_MS);
      server.server.closeIdleConnections();
      await closed;
      clearInterval(idle);
      await registry.close();
      await Promise.all([converter.close(), pages.close(), recorder.flush(), observer.close()]);
      await stores.close();
    },
  };
}

/** Loaded only where a collector is named. */
async function openOtel(
  { otel: config }: ObserveConfig,
  providerOf: (id: string) => ProviderConfig | undefined,
  log: Logger,
): Promise<Otel | undefined> {
  if (config === undefined) return undefined;
  const { Otel } = await import('./observe/otel/index.ts');
  const addressOf = (id: string): URL | undefined => {
    const address = providerOf(id)?.baseUrl;
    return address === undefined ? undefined : new URL(address);
  };
  return new Otel({ config, version, addressOf, log });
}

function withTraces(deps: ProviderDeps, otel: Otel | undefined): ProviderDeps {
  return otel === undefined ? deps : { ...deps, client: otel.client(deps.client), fetch: otel.fetch(deps.fetch) };
}
