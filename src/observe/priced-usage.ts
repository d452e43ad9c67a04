import type { UsageRecord, UsageStore } from '../core/stores.ts';
import { tokenCount } from '../core/usage.ts';
import type { Prices } from './prices.ts';

/** A store whose records say what they cost, in US dollars; null: unknown. What a client says of a cost stays as it is. */
export function pricedUsage(store: UsageStore, prices: Pick<Prices, 'cost'>): UsageStore {
  return {
    async add(records) {
      const all = records.map((record) => priced(record, prices));
      // Prices are nearly always at hand, and then nothing waits for them.
      await store.add(all.every(isThere) ? all : await Promise.all(all));
    },
    day: (date) => store.day(date),
    stats: (query) => store.stats(query),
  };
}

function priced(record: UsageRecord, prices: Pick<Prices, 'cost'>): UsageRecord | Promise<UsageRecord> {
  const { provider, model, promptTokens, completionTokens, savedTokens: cachedTokens, more } = record;
  if ('cost' in more) return record;
  // Writing to a vendor's cache has a price of its own.
  const cacheWriteTokens = tokenCount(more['cache_write_tokens']) ?? 0;
  const usage = { promptTokens, completionTokens, cachedTokens, cacheWriteTokens };
  const withCost = (cost: number | null): UsageRecord => ({ ...record, more: { ...more, cost } });
  const cost = prices.cost(provider, model, usage);
  return cost instanceof Promise ? cost.then(withCost) : withCost(cost);
}

function isThere(record: UsageRecord | Promise<UsageRecord>): record is UsageRecord {
  return !(record instanceof Promise);
}
