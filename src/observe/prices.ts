import type * as Genai from '@pydantic/genai-prices';
import type { ProviderConfig } from '../config/config.ts';
import { rows } from '../config/rows.ts';
import type { Usage } from '../core/chunk.ts';
import type { Logger } from '../core/logger.ts';
import type { Cost } from '../core/usage.ts';

/** Models whose prices were looked up; names come from clients. */
const MOST_MODELS = 1_000;

/** What is known of a provider that decides whose prices count. */
export type PricedProvider = Pick<ProviderConfig, 'id' | 'kind' | 'baseUrl'>;

/** The tokens of one answer. */
export type PricedUsage = Pick<Usage, 'promptTokens' | 'completionTokens' | 'cachedTokens' | 'cacheWriteTokens'>;

type Whose = { readonly providerId: string } | { readonly providerApiUrl: string };
/** A model with its vendor, and nothing else to search through. */
type Known = Genai.Provider | null;

/**
 * What answers cost, in US dollars. The catalogue (20 MB, some 60 ms) is loaded with the first answer of a provider that may
 * have prices: local servers never cause it.
 */
export class Prices {
  readonly #providerOf: (id: string) => PricedProvider | undefined;
  readonly #log: Logger;
  readonly #load: () => Promise<typeof Genai>;
  readonly #known = new Map<string, Known>();
  /** Whose prices count, by provider; null: nobody's. */
  readonly #vendors = new Map<string, Whose | null>();
  #catalogue: typeof Genai | undefined;
  #loading: Promise<typeof Genai | undefined> | undefined;

  constructor(
    providerOf: (id: string) => PricedProvider | undefined,
    log: Logger,
    load: () => Promise<typeof Genai> = () => import('@pydantic/genai-prices'),
  ) {
    this.#providerOf = providerOf;
    this.#log = log;
    this.#load = load;
  }

  /** Providers may have changed. */
  forget(): void {
    this.#known.clear();
    this.#vendors.clear();
  }

  /** Null: unknown. At once, except while the catalogue is being loaded. */
  cost(provider: string, model: string, usage: PricedUsage): Cost {
    const whose = this.#whose(provider);
    if (whose === undefined || model === '') return null;
    if (this.#catalogue !== undefined) return this.#calculate(this.#catalogue, provider, whose, model, usage);
    this.#loading ??= this.#load().then(
      (catalogue) => {
        this.#catalogue = catalogue;
        return catalogue;
      },
      (error: unknown) => {
        this.#log.warn({ error: String(error) }, 'prices cannot be loaded; costs stay unknown');
        return undefined;
      },
    );
    return this.#loading.then((catalogue) =>
      catalogue === undefined ? null : this.#calculate(catalogue, provider, whose, model, usage),
    );
  }

  #whose(id: string): Whose | undefined {
    const known = this.#vendors.get(id);
    if (known !== undefined) return known ?? undefined;
    const whose = this.#look(id);
    // Ids are those of providers, of which there are only so many.
    this.#vendors.set(id, whose ?? null);
    return whose;
  }

  #look(id: string): Whose | undefined {
    const vendor = rows.get(id)?.pricedAs;
    if (vendor !== undefined) return { providerId: vendor };
    const provider = this.#providerOf(id);
    if (provider === undefined) return undefined;
    const { baseUrl, kind } = provider;
    if (baseUrl !== undefined) return isOnTheWeb(baseUrl) ? { providerApiUrl: baseUrl } : undefined;
    // Whose library it is says whose prices count, where no address says otherwise.
    const ofKind = [...rows.values()].find((row) => row.kind === kind)?.pricedAs;
    return ofKind === undefined ? undefined : { providerId: ofKind };
  }

  #calculate(catalogue: typeof Genai, id: string, whose: Whose, model: string, usage: PricedUsage): number | null {
    const name = `${id} ${model}`;
    let provider = this.#known.get(name);
    try {
      if (provider === undefined) {
        provider = find(catalogue, whose, model);
        if (this.#known.size >= MOST_MODELS) this.#known.clear();
        this.#known.set(name, provider);
      }
      if (provider === null) return null;
      const price = catalogue.calcPrice(toUsage(usage), model, { provider })?.total_price;
      return price !== undefined && Number.isFinite(price) ? price : null;
    } catch (error) {
      this.#log.debug({ provider: id, model, error: String(error) }, 'an answer has no price');
      return null;
    }
  }
}

/** Finding a model takes 30 times as long as calculating with it. */
function find(catalogue: typeof Genai, whose: Whose, model: string): Known {
  const found = catalogue.calcPrice({ input_tokens: 1, output_tokens: 1 }, model, whose);
  return found === null ? null : { ...found.provider, models: [found.model] };
}

/** Our counts are those of OpenAI: what was cached is part of the prompt. */
function toUsage({ promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0 }: PricedUsage): Genai.Usage {
  // The catalogue refuses counts that contradict each other.
  const read = Math.min(cachedTokens, promptTokens);
  const written = Math.min(cacheWriteTokens, promptTokens - read);
  return {
    input_tokens: promptTokens,
    output_tokens: completionTokens,
    ...(read === 0 ? {} : { cache_read_tokens: read }),
    ...(written === 0 ? {} : { cache_write_tokens: written }),
  };
}

/** Whether an address has a name that others than this machine and its neighbours know. */
function isOnTheWeb(address: string): boolean {
  const { hostname } = new URL(address);
  return /[a-z]/i.test(hostname) && !hostname.startsWith('[') && /\.(?!local$|localhost$|internal$)/.test(hostname);
}
