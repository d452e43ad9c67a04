import { loadCatalog, loadModels } from '../api/catalog.ts';
import { app } from '../state/app.ts';

/** Reads the providers and models anew, those for the person's own keys as well. */
export async function refreshCatalog(): Promise<void> {
  try {
    const loaded = await loadCatalog();
    app.dispatch({ type: 'catalog/loaded', ...loaded });
    await Promise.all(Object.entries(app.get().settings.keys).map(([name, key]) => refreshProvider(name, key)));
  } catch {
    app.dispatch({ type: 'catalog/failed' });
    const again = (): void => void refreshCatalog();
    addEventListener('online', again, { once: true });
  }
}

/** What a provider offers to the holder of `key`; throws what the provider says against it. */
async function refreshProvider(name: string, key: string): Promise<void> {
  const models = await loadModels(name, key).catch(() => undefined);
  if (models !== undefined) app.dispatch({ type: 'catalog/provider', name, models });
}

/** Keeps a key in this browser, after the provider's list of models was asked for with it. An empty one is forgotten. */
export async function saveKey(provider: string, key: string): Promise<void> {
  app.dispatch({ type: 'settings/key', provider, key });
  if (key === '') return refreshCatalog();
  const models = await loadModels(provider, key);
  app.dispatch({ type: 'catalog/provider', name: provider, models });
}
