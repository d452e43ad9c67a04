import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Provider } from '../core/provider.ts';
import { askForModels } from './ask.ts';

test('a failure that nobody expected is told in its own words: a command has no log', async () => {
  const provider: Provider = {
    id: 'mock',
    label: 'Mock',
    origin: 'file',
    auth: { kind: 'none' },
    models: () => Promise.reject(Object.assign(new Error('no permission\nfor /x'), { code: 'EACCES' })),
  };
  const { models, error } = await askForModels(provider, 1_000);
  assert.deepEqual([models, error?.code, error?.message], [[], 'internal', 'no permission for /x (EACCES)']);
});
