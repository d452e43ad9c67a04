import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, clientFor } from '../../test/support/raw-upstream.ts';
import { secureServer, trustSecureServer } from '../../test/support/secure-server.ts';

describe('connections by TLS', () => {
  test('are kept, and a further one takes up the session', async (context) => {
    trustSecureServer(context);
    const { origin, resumed } = await secureServer(context, async (request, response) => {
      const bytes = Buffer.concat(await request.toArray());
      await sleep(20);
      response.end(String(bytes.length));
    });
    const client = clientFor(context);
    const large = Buffer.alloc(100_000);
    assert.equal(await ask(client, origin, large), '200 100000');
    assert.equal(await ask(client, origin, Buffer.from('ab')), '200 2');
    assert.deepEqual(resumed, [false]);
    await Promise.all([ask(client, origin), ask(client, origin)]);
    assert.deepEqual(resumed, [false, true]);
  });

  test('an answer of any size comes whole', async (context) => {
    trustSecureServer(context);
    const { origin } = await secureServer(context, (_request, response) => {
      for (let part = 0; part < 50; part += 1) response.write(Buffer.alloc(100_000, 'abcdefghij'));
      response.end();
    });
    const answer = await ask(clientFor(context), origin);
    assert.equal(answer.length, '200 '.length + 5_000_000);
    assert.ok(answer.endsWith('abcdefghij'));
  });

  test('nobody without a certificate that holds', async (context) => {
    const { origin } = await secureServer(context, (_request, response) => response.end());
    await assert.rejects(ask(clientFor(context), origin), { code: 'upstream_unreachable' });
    trustSecureServer(context);
    await assert.rejects(ask(clientFor(context), origin.replace('localhost', '127.0.0.1')), {
      code: 'upstream_unreachable',
    });
  });
});
