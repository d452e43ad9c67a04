import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { SluiceError } from '../core/errors.ts';
import { keepKey, withoutKey } from './credentials.ts';
import type { RelayedStream, RelaySink } from './relayed.ts';

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
  const named = withoutKey(
    new SluiceError('rate_limited', 'Slow down.', { param: `at ${apiKey}`, quotas: [`of ${apiKey}`] }),
    { apiKey },
  );
  assert.ok(named instanceof SluiceError);
  assert.deepEqual([named.options.param, named.options.quotas], ['at ***', ['of ***']]);
  const quota = new SluiceError('rate_limited', 'Slow down.', { param: 'model', quotas: [`of ${apiKey}`] });
  assert.ok(!inspect(withoutKey(quota, { apiKey }), { depth: 9 }).includes(apiKey));
});

test('an answer of which the request is still being sent says so, also where it was asked for with a key of the client', () => {
  let isSent = false;
  const stream: RelayedStream = {
    kind: 'stream',
    headers: {},
    get isSent() {
      return isSent;
    },
    attach: (_sink: RelaySink) => {},
    resume: () => {},
    summary: () => ({ usage: undefined, finish: undefined, answeredAs: undefined }),
  };
  const kept = keepKey(stream, { apiKey: 'sk-of-a-client' });
  assert.equal(kept.isSent, false);
  isSent = true;
  assert.equal(kept.isSent, true);
});
