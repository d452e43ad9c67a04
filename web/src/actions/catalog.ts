import { loadCatalog, loadModels } from '../api/catalog.ts';
import { toFailure } from '../api/http.ts';
import { app } from '../state/app.ts';
import type { Failure } from '../state/model.ts';

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

/** What a provider offers to the holder of `key`, if it says so. */
async function refreshProvider(name: string, key: string): Promise<void> {
  const models = await loadModels(name, key).catch(() => undefined);
  if (models !== undefined) app.dispatch({ type: 'catalog/provider', name, models });
}

/**
 * Keeps a key in this browser, unless the provider refuses it, which is thrown. Returns why it could not be asked, if so: the
 * key may be good. An empty one is forgotten.
 */
export async function saveKey(provider: string, key: string): Promise<Failure | undefined> {
  const keep = (): void => app.dispatch({ type: 'settings/key', provider, key });
  if (key === '') {
    keep();
    await refreshCatalog();
    return undefined;
  }
  try {
    const models = await loadModels(provider, key);
    keep();
    app.dispatch({ type: 'catalog/provider', name: provider, models });
    return undefined;
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (isRefusal(failure)) throw thrown;
    keep();
    return failure;
  }
}

/** Whether the provider does not want the key. Some call that a bad request. */
function isRefusal({ status = 0, code }: Failure): boolean {
  return status >= 400 && status <= 403 && code !== 'unauthorized';
}
