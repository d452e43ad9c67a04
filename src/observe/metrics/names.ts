/** Names of models come from clients, so only so many become labels: of each provider, and of all. */
const MOST_OF_PROVIDER = 200;
const MOST = 1_000;
const OTHER = 'other';

/**
 * The models that may be labels: those that have answered. A name that no provider has ever answered to is `other`, and so
 * is everything beyond a number, for upstreams that answer to any name.
 */
export class ModelNames {
  readonly #known = new Map<string, Set<string>>();
  #count = 0;

  /** @param hasAnswered whether this request was answered by the model */
  label(provider: string, model: string, hasAnswered: boolean): string {
    if (model === '') return '';
    let models = this.#known.get(provider);
    if (models?.has(model) === true) return model;
    if (!hasAnswered || this.#count >= MOST || (models?.size ?? 0) >= MOST_OF_PROVIDER) return OTHER;
    if (models === undefined) {
      models = new Set();
      this.#known.set(provider, models);
    }
    models.add(model);
    this.#count += 1;
    return model;
  }
}
