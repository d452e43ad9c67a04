import assert from 'node:assert/strict';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { dayOf } from '../../src/core/days.ts';
import { UsageBatch } from '../../src/core/usage-batch.ts';
import { empty, toJson } from '../../src/observe/insights.ts';
import { openStores } from '../../src/stores/index.ts';
import { testLogger } from '../support/call.ts';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';
import { USED } from '../support/usage.ts';

const DAY_MS = 86_400_000;

/** A gateway, and what it does a minute after its start. */
async function startWith(context: TestContext, yaml: string) {
  const soon: (() => void)[] = [];
  const { setTimeout: real } = globalThis;
  const mocked = context.mock.method(globalThis, 'setTimeout', (...args: Parameters<typeof setTimeout>) => {
    const [callback, milliseconds] = args;
    if (milliseconds === 60_000) soon.push(callback as () => void);
    return Reflect.apply(real, globalThis, args);
  });
  const gateway = await startGateway(yaml);
  mocked.mock.restore();
  context.after(() => gateway.close());
  const aMinuteLater = (): void => {
    for (const callback of soon) callback();
  };
  return { gateway, aMinuteLater };
}

test('usage goes after keptUsageDays, with its sums', { timeout: 120_000 }, async (context) => {
  const { gateway, aMinuteLater } = await startWith(context, 'limits: { keptUsageDays: 7 }');
  const now = Date.now();
  const stores = openStores({ dataDir: path.join(gateway.folder, 'data') }, testLogger());
  for (const days of [10, 3]) {
    await stores.usage.add(UsageBatch.of({ ...USED, time: now - days * DAY_MS }));
  }
  await stores.close();
  const ask = (target: string): Promise<Response> => fetch(`${gateway.origin}/backend-api/v2/${target}`);
  const statusOf = async (days: number): Promise<number> => (await ask(`usage/${dayOf(now - days * DAY_MS)}`)).status;
  const requests = async (): Promise<number> => JSON.parse(await (await ask('stats?days=30')).text()).totals.requests;
  assert.deepEqual([await statusOf(10), await statusOf(3), await requests()], [200, 200, 2]);
  aMinuteLater();
  await eventually('the older one is gone', async () => (await statusOf(10)) === 404);
  await eventually('so are its sums', async () => (await requests()) === 1);
  assert.equal(await statusOf(3), 200);
});

test('what the dashboard shows beyond sums of tokens is kept no longer', { timeout: 120_000 }, async (context) => {
  const { gateway, aMinuteLater } = await startWith(context, 'limits: { keptUsageDays: 7 }');
  const now = Date.now();
  const { caches, close } = openStores({ dataDir: path.join(gateway.folder, 'data') }, testLogger());
  context.after(close);
  const idOf = (days: number): string => `observed-day ${dayOf(now - days * DAY_MS)}`;
  const isThere = async (days: number): Promise<boolean> => (await caches.get(idOf(days))) !== undefined;
  const value = toJson([{ ...empty('ann', 'acme', 'test-model'), requests: 1 }]);
  for (const days of [399, 10, 3]) await caches.put({ id: idOf(days), expires: now + 400 * DAY_MS, value });
  const response = await fetch(`${gateway.origin}/backend-api/v2/stats?days=30`);
  const { insights } = (await response.json()) as { insights: { all: { requests: number } } };
  assert.equal(insights.all.requests, 1, 'nobody is shown what is too old');
  aMinuteLater();
  await eventually('the oldest is gone', async () => !(await isThere(399)));
  await eventually('so is the older one', async () => !(await isThere(10)));
  assert.equal(await isThere(3), true);
});

test('the request log is kept no longer', { timeout: 120_000 }, async (context) => {
  const { gateway, aMinuteLater } = await startWith(context, 'limits: { keptUsageDays: 7 }');
  const log = async (): Promise<readonly string[]> => {
    const response = await fetch(`${gateway.origin}/backend-api/v2/requests`);
    const { requests } = (await response.json()) as { requests: readonly { asked: string }[] };
    return requests.map(({ asked }) => asked);
  };
  const ask = async (model: string, days: number): Promise<void> => {
    const now = Date.now() - days * DAY_MS;
    const clock = context.mock.method(Date, 'now', () => now);
    await fetch(`${gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    await eventually('it is there', async () => (await log()).includes(model));
    clock.mock.restore();
  };
  await ask('of-last-week', 9);
  await ask('of-this-week', 3);
  aMinuteLater();
  await eventually('the older one is gone', async () => !(await log()).includes('of-last-week'));
  assert.deepEqual(await log(), ['of-this-week']);
});
