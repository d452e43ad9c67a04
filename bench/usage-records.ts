import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { UsageRecord } from '../src/core/stores.ts';
import { openStores } from '../src/stores/index.ts';

const BATCH = 10_000;
const DAY_MS = 86_400_000;

/** Writes `count` records of usage into a data folder, spread over a year, ten users and five models. */
export async function fillUsage(dataDir: string, count: number): Promise<void> {
  const stores = openStores(dataDir, pino({ level: 'silent' }));
  const now = Date.now();
  const record = (index: number): UsageRecord => ({
    id: randomUUID(),
    time: now - Math.floor((1 - index / count) * 365 * DAY_MS),
    user: `user-${index % 10}`,
    provider: 'mock',
    model: `model-${index % 5}`,
    promptTokens: 200,
    completionTokens: 200,
    totalTokens: 400,
    savedTokens: 0,
    more: {},
  });
  try {
    for (let from = 0; from < count; from += BATCH) {
      const length = Math.min(BATCH, count - from);
      await stores.usage.add(Array.from({ length }, (_, index) => record(from + index)));
    }
  } finally {
    await stores.close();
  }
}
