import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { createGzip, gzipSync } from 'node:zlib';
import { plainServer } from '../../test/support/plain-server.ts';
import { createGuardedFetch, defaultGuardedLimits, type GuardedLimits, readAll } from './guarded-fetch.ts';

/** To this machine too. */
function guarded(limits: Partial<GuardedLimits> = {}) {
  return createGuardedFetch({ isPublic: () => true, limits: () => ({ ...defaultGuardedLimits, ...limits }) });
}

describe('bodies of guarded fetches', () => {
  test('what is compressed is no larger for it', async (context) => {
    const { url } = await plainServer(context, (request, response) => {
      const size = Number(/\d+/.exec(request.url ?? '')?.[0]);
      const text = request.url?.startsWith('/noise') ? randomBytes(size) : 'x'.repeat(size);
      const bytes = gzipSync(text);
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bytes.length }).end(bytes);
    });
    const fetch = guarded({ bytes: 1_000 });
    assert.equal((await readAll(await fetch(`${url}/1000`))).length, 1_000);
    // It became longer by it.
    assert.equal((await readAll(await fetch(`${url}/noise1000`))).length, 1_000);
    await assert.rejects(readAll(await fetch(`${url}/1001`)), {
      code: 'upstream_invalid',
      message: /larger than 1000 bytes/,
    });
    await assert.rejects(readAll(await fetch(`${url}/1000`, { bytes: 999 })), {
      code: 'upstream_invalid',
      message: /larger than 999 bytes/,
    });
  });

  test('what is compressed and cut off is told so, and closed where nobody reads on', {
    timeout: 60_000,
  }, async (context) => {
    const closed = Promise.withResolvers<void>();
    const { url } = await plainServer(context, (request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const gzip = createGzip();
      gzip.on('data', (bytes: Buffer) => response.write(bytes));
      gzip.write('begun');
      gzip.flush(() => {
        if (request.url === '/cut') response.destroy();
      });
      if (request.url !== '/cut') response.on('close', () => closed.resolve());
    });
    await assert.rejects(readAll(await guarded()(`${url}/cut`)), {
      code: 'upstream_cut',
      message: /cut off before its end/,
    });
    for await (const bytes of (await guarded({ totalMs: 3_600_000 })(`${url}/left`)).body) {
      assert.equal(bytes.toString(), 'begun');
      break;
    }
    await closed.promise;
  });
});
