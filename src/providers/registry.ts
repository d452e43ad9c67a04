import type { Config, ProviderConfig } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import { isReady, type Provider } from '../core/provider.ts';
import { createEmbeddedProvider } from './embedded/provider.ts';
import { createProvider, type ProviderDeps } from './index.ts';
import { createFliteProvider, withVoiceOf } from './speech/index.ts';

/** The providers that are on now: configuration, local servers and the embedded model, in order of preference. */
export class Registry {
  readonly #deps: ProviderDeps;
  readonly #log: Logger;
  readonly #made = new Map<string, Provider>();
  #embedded: Provider | undefined;
  #voice: Provider | undefined;
  #local: readonly ProviderConfig[] = [];

  constructor(deps: ProviderDeps, log: Logger) {
    this.#deps = deps;
    this.#log = log;
  }

  /** Local servers found on this machine; configuration may know the same ones under its own name. */
  found(local: readonly ProviderConfig[]): void {
    this.#local = local;
  }

  /** Those of a configuration. Entries that did not change keep their provider, and with it its listing and connections. */
  providers(config: Config): readonly Provider[] {
    const ids = new Set([...config.providers.map((entry) => entry.id), ...(config.disabled ?? [])]);
    const addresses = new Set(config.providers.map((entry) => entry.baseUrl));
    const local = this.#local.filter((entry) => !ids.has(entry.id) && !addresses.has(entry.baseUrl));
    const entries = [...config.providers, ...local, ...config.available];
    const wanted = new Map(entries.map((entry) => [JSON.stringify(entry), entry]));
    for (const [key, provider] of this.#made) {
      if (wanted.has(key)) continue;
      this.#made.delete(key);
      void provider.close?.();
    }
    for (const [key, entry] of wanted) if (!this.#made.has(key)) this.#made.set(key, createProvider(entry, this.#deps));
    const providers = [...wanted.keys()].flatMap((key) => this.#made.get(key) ?? []);
    if (config.embedded.enabled) {
      this.#voice ??= createFliteProvider(this.#deps.synthesizer);
      this.#embedded ??= withVoiceOf(
        createEmbeddedProvider(config.embedded, config.dataDir, this.#log, { engines: this.#deps.engines }),
        this.#voice,
      );
      providers.push(this.#embedded, this.#voice);
    }
    // Those that wait for a client's key come last.
    return [...providers.filter(isReady), ...providers.filter((provider) => !isReady(provider))];
  }

  async close(): Promise<void> {
    await Promise.all([...this.#made.values(), this.#embedded, this.#voice].map((provider) => provider?.close?.()));
    this.#deps.synthesizer.close();
    await this.#deps.client.close();
  }
}
