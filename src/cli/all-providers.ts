import type { Config, ProviderConfig } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import type { Provider } from '../core/provider.ts';

/** The commands say themselves what fails; the providers need not log it too. */
export const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quiet,
};

/** The local servers that run now. */
export async function findLocal({ detectLocal: isWanted, bind }: Config): Promise<readonly ProviderConfig[]> {
  if (!isWanted) return [];
  const { detectLocal } = await import('../providers/local.ts');
  return await detectLocal({ ownPort: bind.port });
}

/** The providers of one configuration, for a look at them. */
export interface OpenProviders {
  /** Those that are on, as they serve. */
  readonly on: readonly Provider[];
  /** Known ones that a client may use with a key of its own. */
  readonly waiting: readonly Provider[];
  /** Lets go of their connections. */
  close(): Promise<void>;
}

/** Opens the configured providers and the local servers that were found; they log nothing. */
export async function openProviders(config: Config, local: readonly ProviderConfig[]): Promise<OpenProviders> {
  const [{ createProviderDeps }, { Registry }] = await Promise.all([
    import('../providers/index.ts'),
    import('../providers/registry.ts'),
  ]);
  const registry = new Registry(
    createProviderDeps(() => config.limits, quiet, config.proxy),
    quiet,
  );
  registry.found(local);
  const providers = registry.providers(config);
  const isWaiting = ({ id }: Provider) => config.available.some((entry) => entry.id === id);
  return {
    on: providers.filter((provider) => !isWaiting(provider)),
    waiting: providers.filter(isWaiting),
    close: () => registry.close(),
  };
}
