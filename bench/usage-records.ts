import { pino } from 'pino';
import { dayOf } from '../src/core/days.ts';
import { UsageBatch } from '../src/core/usage-batch.ts';
import type { UsageRecord } from '../src/core/usage-record.ts';
import { openStores } from '../src/stores/index.ts';

const BATCH = 1_000;
const DAY_MS = 86_400_000;

/** Writes `count` records of usage into a data folder, spread over a year, ten users and five models. */
export async function fillUsage(dataDir: string, count: number): Promise<void> {
  const stores = openStores({ dataDir }, pino({ level: 'silent' }));
  const now = Date.now();
  const record = (index: number): UsageRecord => ({
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
    let batch: UsageBatch | undefined;
    for (let index = 0; index < count; index += 1) {
      const next = record(index);
      const day = dayOf(next.time);
      if (batch !== undefined && (batch.day !== day || batch.size === BATCH)) {
        await stores.usage.add(batch);
        batch = undefined;
      }
      batch ??= new UsageBatch(day);
      batch.add(next);
    }
    if (batch !== undefined) await stores.usage.add(batch);
  } finally {
    await stores.close();
  }
}
