import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { testLogger } from '../../../test/support/call.ts';
import { Prices } from '../../observe/prices.ts';
import type { Route } from '../deps.ts';
import { withPrices } from './list-prices.ts';

const prices = new Prices(() => undefined, testLogger());

function ask(url: string, answer: unknown, params: object = {}): Promise<unknown> {
  const route = { method: 'GET', url, handler: async () => answer } as unknown as Route;
  return withPrices(route, { prices }).handler({ params } as FastifyRequest, {} as FastifyReply);
}

describe('lists of models', () => {
  test('say what each costs, where that is known', async () => {
    const listed = { openai: [{ id: 'gpt-4o' }, { id: 'no-such-model' }], local: [{ id: 'gpt-4o' }] };
    assert.deepEqual(await ask('/backend-api/v2/models', listed), {
      openai: [{ id: 'gpt-4o', price: { input: 2.5, output: 10 } }, { id: 'no-such-model' }],
      local: [{ id: 'gpt-4o' }],
    });
  });

  test('of one provider do as well', async () => {
    const answer = await ask('/backend-api/v2/models/:provider', [{ id: 'gpt-4o' }], { provider: 'openai' });
    assert.deepEqual(answer, [{ id: 'gpt-4o', price: { input: 2.5, output: 10 } }]);
  });

  test('of each model once, and everything else, stay as they are', async () => {
    assert.deepEqual(await ask('/backend-api/v2/models', [{ id: 'gpt-4o' }]), [{ id: 'gpt-4o' }]);
    assert.deepEqual(await ask('/backend-api/v2/stats', { openai: [{ id: 'gpt-4o' }] }), {
      openai: [{ id: 'gpt-4o' }],
    });
  });
});
