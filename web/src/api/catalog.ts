import type { CatalogState, ModelEntry, ProviderEntry } from '../state/catalog.ts';
import { BACKEND, getJson, request } from './http.ts';

interface LoadedCatalog extends Pick<CatalogState, 'providers' | 'models'> {
  /** Of this version. */
  readonly tag: string;
}

/** The providers and the models of each; undefined while that is the version `known`. */
export async function loadCatalog(known: string): Promise<LoadedCatalog | undefined> {
  const answers = await Promise.all([request(`${BACKEND}/providers`), request(`${BACKEND}/models`)]);
  const tag = answers.map(({ headers }) => headers.get('etag')).join('');
  if (tag !== '' && tag === known) {
    for (const { body } of answers) body?.cancel().catch(() => {});
    return undefined;
  }
  const [providers, models] = await Promise.all(answers.map((answer) => answer.json()));
  return {
    providers: providers as readonly ProviderEntry[],
    models: models as Readonly<Record<string, readonly ModelEntry[]>>,
    tag,
  };
}

/** What a provider offers to the holder of `key`, or to the server's own, asked anew. Throws what the provider says against it. */
export function loadModels(provider: string, key?: string): Promise<readonly ModelEntry[]> {
  return getJson(`${BACKEND}/models/${encodeURIComponent(provider)}`, {
    cache: 'reload',
    headers: withKey(key),
  });
}

/** What is left of the account that `key`, or the server's own, belongs to: an object of the provider's own. */
export function loadQuota(provider: string, key?: string): Promise<object> {
  return getJson(`${BACKEND}/quota/${encodeURIComponent(provider)}`, { headers: withKey(key) });
}

function withKey(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { 'x-api-key': key };
}
