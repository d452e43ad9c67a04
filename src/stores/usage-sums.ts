import type { UsageTotals } from '../core/stores.ts';
import { noTotals } from '../core/usage-batch.ts';

/**
 * Names in a list of statistics: those with the most tokens. Clients may choose user names freely, and nobody reads a list
 * of a million.
 */
export const MOST_NAMES = 1_000;

export const NOTHING: UsageTotals = noTotals();

export function addTotals(one: UsageTotals, other: UsageTotals): UsageTotals {
  return {
    requests: one.requests + other.requests,
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
    totalTokens: one.totalTokens + other.totalTokens,
    savedTokens: one.savedTokens + other.savedTokens,
  };
}
