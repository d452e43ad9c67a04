import type { AddressInfo } from 'node:net';
import type { Config } from './config/config.ts';
import type { Logger } from './core/logger.ts';
import { isReady, type Provider } from './core/provider.ts';
import { thinkTags } from './enrich/think-tags.ts';
import { Calls } from './http/edge/calls.ts';
import { Secrets } from './http/edge/secrets.ts';
import { buildServer } from './http/server.ts';
import { Heartbeats } from './http/sse.ts';
import { createProviderDeps } from './providers/index.ts';
import { type LocalWatch, watchLocal } from './providers/local.ts';
import { Registry } from './providers/registry.ts';
import { Catalog } from './routing/catalog.ts';
import { Deadlines } from './routing/deadlines.ts';
import { Router } from './routing/router.ts';
import { version } from './version.ts';

/** The whole program behind one port. */
export interface App {
  /** Starts to serve. Rejects with Node's error when the address cannot be had. */
  listen(): Promise<{ readonly host: string; readonly port: number }>;
  /** Takes over what may change while we run: providers, aliases, limits, defaults. */
  apply(config: Config): Promise<void>;
  /** Stops accepting, lets answers finish, and cuts what is left after `limits.drainMs` with an error. */
  drain(): Promise<void>;
  readonly catalog: Catalog;
  readonly providers: () => readonly Provider[];
}

export interface AppOptions {
  /** Told which local servers were found, whenever that changes. */
  readonly onLocal?: (ids: readonly string[]) => void;
}

/** Wires everything; the only place that knows all parts. */
export async function createApp(initial: Config, log: Logger, options: AppOptions = {}): Promise<App> {
  let config = initial;
  const limits = () => config.limits;
  const deps = createProviderDeps(limits, log);
  const registry = new Registry(deps, log);
  const catalog = new Catalog(log);
  const deadlines = new Deadlines();
  const secrets = new Secrets();
  const calls = new Calls(limits);
  const router = new Router({
    client: deps.client,
    catalog,
    deadlines,
    limits,
    preferences: () => config,
    steps: [thinkTags],
  });
  const server = buildServer({
    config: () => config,
    router,
    deadlines,
    heartbeats: new Heartbeats(() => config.limits.heartbeatMs),
    calls,
    secrets,
    log,
    version,
  });
  let local: LocalWatch | undefined;

  function take(next: Config): void {
    config = next;
    secrets.use([next.key, ...next.providers.flatMap((entry) => [entry.apiKey, ...Object.values(entry.headers)])]);
    catalog.use(registry.providers(next));
  }
  take(initial);

  return {
    catalog,
    providers: () => catalog.providers.filter(isReady),
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
      const closed = server.close();
      await calls.drain(config.limits.drainMs);
      // A connection that became idle meanwhile would hold the server open until its keep-alive ends.
      server.server.closeIdleConnections();
      await closed;
      await registry.close();
    },
  };
}
