import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testLogger } from '../../test/support/call.ts';
import { CallScope } from '../core/call.ts';
import { SluiceError } from '../core/errors.ts';
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

test('an attempt that failed is let go of, with all that it would have kept while another one answers', async () => {
  const router = new Router({ limits: () => ({ attempts: 1, retryWaitMs: 0 }) } as unknown as RouterDeps);
  const call = new CallScope('request', testLogger());
  const target = { provider: { id: 'a-provider', auth: { kind: 'none' } }, model: 'a-model' };
  const asked = { wish: { model: 'a-model' }, keys: {}, only: target } as unknown as Parameters<Router['perform']>[0];
  const reached: string[] = [];
  await assert.rejects(
    router.perform(asked, call, (_, scope) => {
      scope.onCancel(() => reached.push('the attempt'));
      throw new SluiceError('upstream_cut', 'Cut.');
    }),
    { code: 'upstream_cut' },
  );
  call.onCancel(() => reached.push('the call'));
  call.cancel();
  assert.deepEqual(reached, ['the call']);
});
