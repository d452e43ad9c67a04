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

/** The local servers that run now, without those that the file names or switches off. */
export async function findLocal(config: Config): Promise<ProviderConfig[]> {
  if (!config.detectLocal) return [];
  const { detectLocal } = await import('../providers/local.ts');
  const taken = new Set([...(config.disabled ?? []), ...config.providers.map(({ id }) => id)]);
  return (await detectLocal({ ownPort: config.bind.port })).filter(({ id }) => !taken.has(id));
}

/** The providers of a configuration, for one look at them; `close` lets go of their connections. */
export async function openProviders(
  config: Config,
): Promise<{ providers: readonly Provider[]; close(): Promise<void> }> {
  const { createProviderDeps, createProviders } = await import('../providers/index.ts');
  const deps = createProviderDeps(() => config.limits, quiet);
  const providers = createProviders(config, quiet, deps);
  return {
    providers,
    async close() {
      await Promise.allSettled([...providers.map((provider) => provider.close?.()), deps.client.close()]);
    },
  };
}
