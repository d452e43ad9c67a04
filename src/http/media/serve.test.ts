import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import Fastify from 'fastify';
import { testLogger } from '../../../test/support/call.ts';
import { SluiceError } from '../../core/errors.ts';
import { Secrets } from '../../core/secrets.ts';
import type { OpenFile } from '../../core/stores.ts';
import { errorHandler } from '../edge/errors.ts';
import { type Served, serve } from './serve.ts';

const SIZE = 10;
const FOR_EVER = 'public, max-age=31536000, immutable';
const broken = new SluiceError('storage_failed', 'The disk fails.');

/** A file that cannot be read. */
const unreadable: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(broken) }),
};

/** What is answered for a picture of ten bytes that is opened in this way. */
async function answered(open: Served['open'], headers = {}) {
  const app = Fastify();
  app.setErrorHandler(errorHandler({ secrets: new Secrets(), log: testLogger() }));
  const about = { size: SIZE, mimeType: 'image/png', etag: 'abc', modified: 1_000, cacheControl: FOR_EVER };
  app.get('/', (request, reply) => serve(request, reply, { ...about, open }));
  return app.inject({ url: '/', headers });
}

describe('an error in the place of a file says nothing of the file', () => {
  const file: OpenFile = { path: 'media/a.png', size: SIZE, modified: 1_000, body: unreadable };
  test('it was sent as it is compressed', async () => {
    const app = Fastify();
    app.setErrorHandler(errorHandler({ secrets: new Secrets(), log: testLogger() }));
    app.get('/', (_, reply) => reply.header('content-encoding', 'br').send(Readable.from(unreadable)));
    const answer = await app.inject('/');
    assert.equal(answer.statusCode, 507);
    assert.equal(answer.headers['content-encoding'], undefined);
    assert.equal(answer.json().error.message, broken.message);
  });

  for (const [name, status, open, range] of [
    ['it is gone by now', 404, async () => undefined, undefined],
    ['it cannot be opened', 507, () => Promise.reject(broken), undefined],
    ['a part of it cannot be opened', 507, () => Promise.reject(broken), 'bytes=1-3'],
    ['it cannot be read', 507, async () => file, undefined],
    ['a part of it cannot be read', 507, async () => file, 'bytes=1-3'],
    ['the range lies beyond it', 416, async () => file, 'bytes=10-'],
  ] as const) {
    test(name, async () => {
      const answer = await answered(open, range === undefined ? {} : { range });
      assert.equal(answer.statusCode, status);
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
      assert.equal(answer.headers['content-length'], String(answer.rawPayload.length));
      assert.equal(answer.headers['cache-control'], 'no-store');
      assert.equal(answer.headers['content-range'], status === 416 ? `bytes */${SIZE}` : undefined);
      for (const header of ['etag', 'last-modified', 'accept-ranges', 'content-disposition'])
        assert.equal(answer.headers[header], undefined, header);
      assert.equal(typeof answer.json().error.message, 'string');
    });
  }
});
