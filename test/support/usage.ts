import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UsageRecord } from '../../src/core/usage-record.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** What a test may take that must not see midnight. */
const ROOM_MS = 15_000;

/** What one answer used, save for its time. */
export const USED = {
  user: 'u',
  provider: 'p',
  model: 'm',
  promptTokens: 1,
  completionTokens: 1,
  totalTokens: 2,
  savedTokens: 0,
  more: {},
} satisfies Omit<UsageRecord, 'time'>;

/** Today's date (UTC), which it stays for a while: just before midnight this waits for the next day. */
export async function todayForAWhile(): Promise<string> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < ROOM_MS) await sleep(left);
  return new Date().toISOString().slice(0, 10);
}

/** All usage that a gateway has recorded, a line for each. Yesterday counts too: midnight (UTC) may pass during a test. */
export async function usageLines(origin: string): Promise<string[]> {
  const now = Date.now();
  const lines: string[] = [];
  for (const time of [now - DAY_MS, now]) {
    const day = new Date(time).toISOString().slice(0, 10);
    const response = await fetch(`${origin}/backend-api/v2/usage/${day}`);
    const text = await response.text();
    if (response.status === 404) continue;
    assert.equal(response.status, 200, text);
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.ok(text.endsWith('\n'));
    lines.push(...text.trimEnd().split('\n'));
  }
  return lines;
}
