import type { UsageRecord, UsageStore } from '../core/stores.ts';
import { tokenCount } from '../core/usage.ts';
import type { Prices } from './prices.ts';

/** A store whose records say what they cost, in US dollars; null: unknown. What a client says of a cost stays as it is. */
export function pricedUsage(store: UsageStore, prices: Pick<Prices, 'cost'>): UsageStore {
  return {
    async add(records) {
      await store.add(await Promise.all(records.map((record) => priced(record, prices))));
    },
    day: (date) => store.day(date),
    stats: (query) => store.stats(query),
  };
}

async function priced(record: UsageRecord, prices: Pick<Prices, 'cost'>): Promise<UsageRecord> {
  const { provider, model, promptTokens, completionTokens, savedTokens: cachedTokens, more } = record;
  if ('cost' in more) return record;
  // Writing to a vendor's cache has a price of its own.
  const cacheWriteTokens = tokenCount(more['cache_write_tokens']) ?? 0;
  const usage = { promptTokens, completionTokens, cachedTokens, cacheWriteTokens };
  const cost = await prices.cost(provider, model, usage);
  return { ...record, more: { ...more, cost } };
}
