import { SluiceError } from '../core/errors.ts';
import type { Model } from '../core/model.ts';
import type { Provider } from '../core/provider.ts';
import type { Deps } from './deps.ts';

/** A model that somebody offers, and who. */
export interface Found {
  readonly model: Model;
  readonly provider: Provider;
}

/** The model that a name stands for: its own, `provider/model`, `provider:model` or an alias, which is the first of its targets. */
export async function findModel(deps: Deps, name: string): Promise<Found | undefined> {
  for (const target of deps.config().aliases.get(name) ?? []) {
    const found = await findNamed(deps, target);
    if (found !== undefined) return found;
  }
  return findNamed(deps, name);
}

/** For a name that stands for no model. */
export function unknownModel(name: string): SluiceError {
  return new SluiceError(
    'model_not_found',
    `The model '${name.slice(0, 256)}' does not exist. GET /v1/models lists what there is.`,
    { param: 'model' },
  );
}

async function findNamed({ router: { catalog } }: Deps, name: string): Promise<Found | undefined> {
  for (const { provider, models } of await catalog.list()) {
    const model = models.find(({ id }) => id === name);
    if (model !== undefined) return { model, provider };
  }
  const meant = catalog.qualified(name);
  if (meant === undefined) return undefined;
  const { models } = await catalog.offer(meant.provider);
  const model = models.find(({ id }) => id === meant.model);
  return model && { model, provider: meant.provider };
}
