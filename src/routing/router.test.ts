import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testLogger } from '../../test/support/call.ts';
import { CallScope } from '../core/call.ts';
import { Router, type RouterDeps } from './router.ts';

test('nothing is begun for a client that has left', async () => {
  const router = new Router({
    limits: () => assert.fail('nobody is to be asked'),
    preferences: () => assert.fail('nobody is to be looked for'),
  } as unknown as RouterDeps);
  const call = new CallScope('request', testLogger());
  call.cancel();
  const asked = { wish: { model: 'a-model' }, keys: {} } as unknown as Parameters<Router['perform']>[0];
  await assert.rejects(
    router.perform(
      asked,
      call,
      () => assert.fail('a provider was asked'),
      () => assert.fail('the question was made ready'),
    ),
    { code: 'cancelled' },
  );
});
