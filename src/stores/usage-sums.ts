import type { UsageRecord, UsageTotals } from '../core/stores.ts';

/**
 * Names in a list of statistics: those with the most tokens. Clients may choose user names freely, and nobody reads a list
 * of a million.
 */
export const MOST_NAMES = 1_000;

export const NOTHING: UsageTotals = {
  requests: 0,
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  savedTokens: 0,
};

/** What one record adds to the sums. */
export function sumsOf(record: UsageRecord): UsageTotals {
  return {
    requests: 1,
    promptTokens: tokens(record.promptTokens),
    completionTokens: tokens(record.completionTokens),
    totalTokens: tokens(record.totalTokens),
    savedTokens: tokens(record.savedTokens),
  };
}

export function addSums(one: UsageTotals, other: UsageTotals): UsageTotals {
  return {
    requests: one.requests + other.requests,
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
    totalTokens: one.totalTokens + other.totalTokens,
    savedTokens: one.savedTokens + other.savedTokens,
  };
}

/** Clients report usage too; one absurd count must not turn a sum into Infinity or NaN for good. */
function tokens(count: number): number {
  return count > 0 ? Math.min(count, Number.MAX_SAFE_INTEGER) : 0;
}
