import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testLogger } from '../../test/support/call.ts';
import { type PricedProvider, Prices } from './prices.ts';

const PROVIDERS: readonly PricedProvider[] = [
  { id: 'mine', kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' },
  { id: 'neighbour', kind: 'openai', baseUrl: 'http://models.internal/v1' },
  { id: 'proxy', kind: 'openai', baseUrl: 'https://api.groq.com/openai/v1' },
  { id: 'stranger', kind: 'openai', baseUrl: 'https://models.example.com/v1' },
  { id: 'claude', kind: 'anthropic' },
];
const USAGE = { promptTokens: 1_000_000, completionTokens: 1_000_000 };

function open(load?: ConstructorParameters<typeof Prices>[2]): { prices: Prices; loads: () => number } {
  let loads = 0;
  const prices = new Prices(
    (id) => PROVIDERS.find((each) => each.id === id),
    testLogger(),
    async () => {
      loads += 1;
      return (load ?? (() => import('@pydantic/genai-prices')))();
    },
  );
  return { prices, loads: () => loads };
}

describe('prices', () => {
  test('of known vendors by id, of others by address or library', async () => {
    const { prices, loads } = open();
    // By the vendors' own lists: 2.50 and 10 dollars a million.
    assert.equal(await prices.cost('openai', 'gpt-4o', USAGE), 12.5);
    assert.ok(Number(await prices.cost('proxy', 'llama-3.3-70b-versatile', USAGE)) > 0);
    assert.ok(Number(await prices.cost('claude', 'claude-sonnet-4-20250514', USAGE)) > 0);
    assert.equal(prices.cost('openai', 'gpt-4o', USAGE), 12.5, 'at once, now that the catalogue is there');
    assert.equal(loads(), 1);
  });

  test('cached tokens cost less; counts that contradict each other do no harm', async () => {
    const { prices } = open();
    assert.equal(await prices.cost('openai', 'gpt-4o', { ...USAGE, cachedTokens: 1_000_000 }), 11.25);
    assert.equal(
      await prices.cost('openai', 'gpt-4o', { ...USAGE, cachedTokens: 9_000_000, cacheWriteTokens: 5 }),
      11.25,
    );
  });

  test('what is not known has no price, which is not 0', async () => {
    const { prices } = open();
    assert.equal(await prices.cost('openai', 'no-such-model-at-all', USAGE), null);
    assert.equal(await prices.cost('stranger', 'gpt-4o', USAGE), null);
    assert.equal(await prices.cost('openai', 'gpt-4o', { promptTokens: Number.NaN, completionTokens: 1 }), null);
    assert.equal(await prices.cost('openai', 'gpt-4o', { promptTokens: 0, completionTokens: 0 }), 0);
  });

  test('the catalogue is not loaded for what cannot have a price', () => {
    const { prices, loads } = open();
    for (const provider of ['mine', 'neighbour', 'embedded', '__proto__', 'constructor']) {
      assert.equal(prices.cost(provider, 'gpt-4o', USAGE), null);
    }
    assert.equal(loads(), 0);
  });

  test('without the catalogue costs are unknown', async () => {
    const { prices } = open(() => Promise.reject(new Error('not installed')));
    assert.equal(await prices.cost('openai', 'gpt-4o', USAGE), null);
  });
});
