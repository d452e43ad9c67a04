import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { SluiceError } from '../core/errors.ts';
import { withoutKey } from './credentials.ts';

test("an upstream's error holds no key of the client's, nor does what it came from", () => {
  const apiKey = 'sk-of-a-client';
  const error = new SluiceError('missing_credentials', `No such key: ${apiKey}`, {
    provider: 'acme',
    cause: new Error(`refused ${apiKey}`),
  });
  const told = withoutKey(error, { apiKey });
  assert.ok(told instanceof SluiceError);
  assert.deepEqual([told.code, told.message, told.options.provider], [error.code, 'No such key: ***', 'acme']);
  assert.ok(!inspect(told, { depth: 9 }).includes(apiKey));
  assert.equal(withoutKey(error, {}), error);
});
