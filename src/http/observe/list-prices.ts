import { z } from 'zod';
import type { Prices } from '../../observe/prices.ts';
import { ModelEntry } from '../backend/wire.ts';
import type { Route } from '../deps.ts';

export interface PriceDeps {
  /** Absent: nothing is known of prices. */
  readonly prices?: Pick<Prices, 'cost'>;
}

const MODELS = '/backend-api/v2/models';
/** Enough that rounding does not show, and few enough to stay below the sizes from which on some prices are others. */
const SAMPLE_TOKENS = 1_000;

const PricedEntry = ModelEntry.extend({
  price: z
    .object({ input: z.number(), output: z.number() })
    .optional()
    .describe('US dollars for a million tokens; absent where no price is known'),
});

/** The rows of the lists of models, which tell what each costs; every other row stays as it is. */
export function withPrices(route: Route, { prices }: PriceDeps): Route {
  const isOfOne = route.url === `${MODELS}/:provider`;
  if (prices === undefined || route.method !== 'GET' || (route.url !== MODELS && !isOfOne)) return route;
  const list = z.array(PricedEntry);
  return {
    ...route,
    answer: isOfOne ? list : z.union([z.record(z.string(), list), list]),
    handler: async (request, reply) => {
      const known = (await route.handler(request, reply)) as
        | readonly ModelEntry[]
        | Record<string, readonly ModelEntry[]>;
      if (isOfOne) return priced((request.params as { provider: string }).provider, known as ModelEntry[], prices);
      // Each model once: whose prices would these be?
      if (Array.isArray(known)) return known;
      const entries = Object.entries(known).map(
        async ([provider, models]) => [provider, await priced(provider, models, prices)] as const,
      );
      return Object.fromEntries(await Promise.all(entries));
    },
  };
}

function priced(
  provider: string,
  models: readonly ModelEntry[],
  prices: Pick<Prices, 'cost'>,
): Promise<readonly z.infer<typeof PricedEntry>[]> {
  const costOf = async (model: string, promptTokens: number, completionTokens: number): Promise<number | null> => {
    const cost = await prices.cost(provider, model, { promptTokens, completionTokens });
    // Sums of floating-point numbers end in noise.
    return cost === null ? null : Number(((cost / SAMPLE_TOKENS) * 1_000_000).toPrecision(10));
  };
  return Promise.all(
    models.map(async (entry) => {
      const input = await costOf(entry.id, SAMPLE_TOKENS, 0);
      const output = await costOf(entry.id, 0, SAMPLE_TOKENS);
      return input === null || output === null ? entry : { ...entry, price: { input, output } };
    }),
  );
}
