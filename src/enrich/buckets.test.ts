import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testCall } from '../../test/support/call.ts';
import { chatRequest } from '../../test/support/chat-request.ts';
import type { Buckets } from '../buckets/buckets.ts';
import { SluiceError } from '../core/errors.ts';
import { bucketStep } from './buckets.ts';

const left = new SluiceError('cancelled', 'the client left');

test('buckets are read no further for a client that has left: neither the next file nor the next bucket', async () => {
  for (const [files, buckets] of [
    [2, 1],
    [1, 2],
  ] as const) {
    const call = testCall();
    let read = 0;
    const stored: Pick<Buckets, 'get' | 'text'> = {
      get: async (id) => ({ id, files: [] }),
      async *text() {
        for (let file = 0; file < files; file += 1) {
          read += 1;
          call.cancel(left);
          yield 'text';
        }
      },
    };
    const part = { type: 'bucket', bucketId: 'a' } as const;
    const request = chatRequest([{ role: 'user', content: Array(buckets).fill(part) }]);
    await assert.rejects(async () => bucketStep(stored as Buckets).enrich(request, call), /the client left/);
    assert.equal(read, 1);
  }
});
