import type { CatalogState, ModelEntry, ProviderEntry } from '../state/catalog.ts';
import { BACKEND, getJson } from './http.ts';

/** The providers and the models of each. */
export async function loadCatalog(): Promise<Pick<CatalogState, 'providers' | 'models'>> {
  const [providers, models] = await Promise.all([
    getJson<readonly ProviderEntry[]>(`${BACKEND}/providers`),
    getJson<Readonly<Record<string, readonly ModelEntry[]>>>(`${BACKEND}/models`),
  ]);
  return { providers, models };
}

/** What a provider offers to the holder of `key`, or to the server's own, asked anew. Throws what the provider says against it. */
export function loadModels(provider: string, key?: string): Promise<readonly ModelEntry[]> {
  return getJson(`${BACKEND}/models/${encodeURIComponent(provider)}`, {
    cache: 'reload',
    headers: key === undefined ? {} : { 'x-api-key': key },
  });
}
