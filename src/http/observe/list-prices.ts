import type { Prices } from '../../observe/prices.ts';
import type { ModelEntry } from '../backend/wire.ts';

/** Enough that rounding does not show, and few enough to stay below the sizes from which on some prices are others. */
const SAMPLE_TOKENS = 1_000;

/** The models of a provider, each with what it costs, where that is known. */
export function priced(
  provider: string,
  models: readonly ModelEntry[],
  prices: Pick<Prices, 'cost'>,
): Promise<readonly ModelEntry[]> {
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
