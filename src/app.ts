import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Bind } from './config/bind.ts';
import type { Config, ProviderConfig } from './config/config.ts';
import { secretsOf } from './config/secrets.ts';
import { createContent } from './content.ts';
import { CookieStore } from './cookies/jar.ts';
import type { Logger } from './core/logger.ts';
import { isReady, type Provider } from './core/provider.ts';
import { Secrets } from './core/secrets.ts';
import { enrich } from './enrich/enrich.ts';
import { createSteps } from './enrich/steps.ts';
import type { Elsewhere } from './http/deps.ts';
import { OwnPlaces, type Places } from './http/edge/places.ts';
import { Turns } from './http/edge/turns.ts';
import { WatchedCalls } from './http/observe/watched-calls.ts';
import { buildServer, useLimits } from './http/server.ts';
import { Heartbeats } from './http/sse.ts';
import type { MediaNews } from './media/store.ts';
import type { ObserveConfig } from './observe/config.ts';
import { type Ledger, OwnLedger } from './observe/ledger.ts';
import { Observer } from './observe/observer.ts';
import type { Otel } from './observe/otel/index.ts';
import { Prices } from './observe/prices.ts';
import { createFetch } from './outbound/fetch.ts';
import type { GuardedSettings } from './outbound/guarded-fetch.ts';
import { version } from './package.ts';
import type { Engines } from './providers/embedded/engines.ts';
import { createProviderDeps, type ProviderDeps } from './providers/index.ts';
import { type LocalWatch, watchLocal } from './providers/local.ts';
import { originsOf } from './providers/origins.ts';
import { Registry } from './providers/registry.ts';
import { Catalog } from './routing/catalog.ts';
import { Deadlines } from './routing/deadlines.ts';
import { Router } from './routing/router.ts';
import { openStores } from './stores/index.ts';
import type { DatabaseHandle } from './stores/sql/handle.ts';
import { KeptAnswers } from './streams/kept-answers.ts';
import { sweepRegularly } from './sweep/sweep.ts';
import { UsageRecorder } from './usage/recorder.ts';

/** The whole program behind one port. */
export interface App {
  /** Starts to serve. Rejects with Node's error when the address cannot be had. */
  listen(): Promise<Bind>;
  /** Takes over what may change while we run: providers, aliases, limits, defaults. */
  apply(config: Config): Promise<void>;
  /** Stops accepting, lets answers finish, and cuts what is left after `limits.drainMs` with an error. */
  drain(): Promise<void>;
  /** Answers that are running now. */
  readonly running: number;
  /** Whether no answer runs, and none is kept to be read again. */
  readonly idle: boolean;
  /** Open streams to clients. */
  readonly streams: number;
  /** How often each provider has answered. */
  readonly answers: ReadonlyMap<string, number>;
  readonly server: FastifyInstance;
  readonly catalog: Catalog;
  readonly providers: () => readonly Provider[];
  /** Local servers that are there now. */
  found(local: readonly ProviderConfig[]): void;
  /** Another process did something that counts here too. */
  cookiesChanged(): Promise<void>;
  readonly mediaChanged: MediaNews;
  bucketDeleted(bucket: string): void;
  /** Another process is asked for the use of tokens: what this one has noted of it is written. */
  writeUsage(): Promise<void>;
}

/** What a process has in common with others that serve the same port. */
export interface Shared {
  /** Four hexadecimal digits in front of its ids. */
  readonly tag: string;
  /** How many processes there are. */
  readonly workers: number;
  readonly database: DatabaseHandle;
  readonly places: Places;
  readonly ledger: Ledger;
  readonly engines: Engines;
  readonly elsewhere: Elsewhere;
  /** Resolves once the others know. */
  cookiesChanged(): Promise<void>;
  readonly mediaChanged: MediaNews;
  bucketDeleted(bucket: string): Promise<void>;
  uploading(bucket: string, isRunning: boolean): void;
  /** Resolves once the others have written the usage that they noted. */
  writeUsage(): Promise<void>;
}

/** What differs from a process that serves alone as configured. */
export interface AppOptions {
  /** Told which local servers were found, whenever that changes. */
  readonly onLocal?: (ids: readonly string[]) => void;
  /** What is written down of requests; default: what the configuration says. */
  readonly observe?: ObserveConfig;
  /** Absent: this process serves alone. What only one may do, somebody else does then: look for local servers, sweep. */
  readonly shared?: Shared;
  /** What counts as the public Internet for addresses from outside; default: what is. Tests play it on this machine. */
  readonly internet?: Pick<GuardedSettings, 'resolve' | 'isPublic'>;
}

/** How often connections that have become idle are closed during shutdown, in milliseconds. */
const IDLE_CHECK_MS = 100;
/** What a stop leaves to answers that it cuts, to say so, in milliseconds. */
const LAST_WORDS_MS = 1_000;

/** Wires everything; the only place that knows all parts. */
export async function createApp(initial: Config, log: Logger, options: AppOptions = {}): Promise<App> {
  let config = initial;
  const limits = () => config.limits;
  const { shared } = options;
  const stores = openStores(config, log, () => config.limits.keptResponses, shared?.database);
  const cookies = new CookieStore(config.dataDir, log);
  const observing = options.observe ?? initial.observe;
  const providerOf = (id: string): ProviderConfig | undefined =>
    [...config.providers, ...config.available].find((each) => each.id === id);
  const otel = await openOtel(observing, providerOf, log);
  const deps = withTraces(
    {
      ...createProviderDeps(limits, log, initial.proxy, cookies),
      engines: shared?.engines,
      isAlone: (shared?.workers ?? 1) === 1,
    },
    otel,
  );
  const registry = new Registry(deps, log);
  const catalog = new Catalog(log);
  const deadlines = new Deadlines();
  const secrets = new Secrets();
  const prices = new Prices(providerOf, log);
  const usageDays = (): number => config.limits.keptUsageDays;
  const ledger = shared?.ledger ?? new OwnLedger({ config: observing, records: stores.caches, log, usageDays });
  const observer = new Observer({ config: observing, ledger, secrets, log, sink: otel });
  const calls = new WatchedCalls(shared?.places ?? new OwnPlaces(limits), observer);
  const answers = new KeptAnswers(() => shareOf(config.limits, shared?.workers ?? 1), shared?.tag);
  const recorder = new UsageRecorder(stores.usage, log);
  const content = createContent({
    config: () => config,
    stores,
    log,
    internet: options.internet,
    onUpload: shared?.uploading,
    onBucketDelete: shared?.bucketDeleted,
    onMedia: shared?.mediaChanged,
  });
  // With several processes the primary sweeps, whose ledger it is.
  const sweep =
    ledger instanceof OwnLedger ? sweepRegularly({ ...stores, requests: ledger, usageDays }, log) : undefined;
  const originsById = (id: string): readonly string[] => {
    const provider = catalog.provider(id);
    return provider === undefined ? [] : originsOf(provider, config);
  };
  const stepsWith = createSteps({ ...content, stores, observing: observer.step, originsOf: originsById });
  const router = new Router({
    client: deps.client,
    catalog,
    deadlines,
    limits,
    preferences: () => config,
    enrich: (request, call, own) => enrich(stepsWith(own), request, call),
    onUsage(target, usage, call) {
      const { provider, model } = target;
      const cost = prices.cost(provider.id, model, usage);
      recorder.note({ user: call.user, provider: provider.id, label: provider.label, model, usage, cost });
      observer.spent(usage, cost, call);
    },
    watcher: observer,
  });
  const server = buildServer({
    config: () => config,
    router,
    deadlines,
    heartbeats: new Heartbeats(() => config.limits.heartbeatMs),
    turns: new Turns(),
    calls,
    answers,
    tag: shared?.tag ?? '',
    elsewhere: shared?.elsewhere,
    observer,
    prices,
    async writeUsage() {
      await Promise.all([recorder.flush(), shared?.writeUsage()]);
    },
    secrets,
    stores,
    ...content,
    cookies,
    cookieDomains: () => config.providers.flatMap((entry) => entry.cookieDomain ?? []),
    async onCookies() {
      take(config);
      await shared?.cookiesChanged();
    },
    log,
    version,
  });
  let local: LocalWatch | undefined;

  function take(next: Config): void {
    config = next;
    secrets.use([...secretsOf(next), ...cookies.values()]);
    catalog.use(registry.providers(next));
    useLimits(server.server, next.limits);
    prices.forget();
  }
  function found(servers: readonly ProviderConfig[]): void {
    registry.found(servers);
    catalog.use(registry.providers(config));
    options.onLocal?.(servers.map((entry) => entry.id));
  }
  take(initial);
  void cookies.ready().then(() => take(config));

  return {
    catalog,
    providers: () => catalog.providers.filter(isReady),
    server,
    get running() {
      return calls.running;
    },
    get idle() {
      return calls.running === 0 && answers.size === 0;
    },
    get streams() {
      return observer.streams;
    },
    answers: router.answers,
    found,
    async cookiesChanged() {
      await cookies.reload();
      take(config);
    },
    mediaChanged: (change) => content.media.noticed(change),
    bucketDeleted: (bucket) => content.buckets.giveUpUploads(bucket),
    writeUsage: () => recorder.flush(),
    async listen() {
      await server.listen({ host: config.bind.host, port: config.bind.port });
      const { address, port } = server.server.address() as AddressInfo;
      if (config.detectLocal && shared === undefined) local = watchLocal(found, { ownPort: port, log });
      return { host: address, port };
    },
    async apply(next) {
      take(next);
    },
    async drain() {
      local?.close();
      sweep?.stop();
      await drainServer(server, calls, config.limits.drainMs);
      await registry.close();
      await Promise.all([content.converter.close(), content.pages.close(), recorder.close(), observer.close()]);
      await stores.close();
    },
  };
}

/** Stops accepting, lets answers finish for so many milliseconds, and closes the server with all its connections. */
async function drainServer(app: FastifyInstance, calls: WatchedCalls, drainMs: number): Promise<void> {
  const { server } = app;
  const closed = app.close();
  // Whoever reads a file, or nothing at all, is not waited for any longer either.
  const cut = setTimeout(() => server.closeAllConnections(), drainMs + LAST_WORDS_MS);
  await calls.drain(drainMs);
  // A connection that becomes idle from here on would hold the server open until its keep-alive ends.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  server.closeIdleConnections();
  await closed;
  clearTimeout(cut);
  clearInterval(idle);
}

/** What one of several processes may keep of answers that can be read again. */
function shareOf(limits: Config['limits'], workers: number): Config['limits'] {
  if (workers === 1) return limits;
  const { keptAnswers, keptAnswersPerClient } = limits;
  return {
    ...limits,
    keptAnswers: Math.ceil(keptAnswers / workers),
    keptAnswersPerClient: Math.ceil(keptAnswersPerClient / workers),
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
  if (otel === undefined) return deps;
  const client = otel.client(deps.client);
  return { ...deps, client, fetch: createFetch(client) };
}
