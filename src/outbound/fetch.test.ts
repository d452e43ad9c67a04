import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainServer, unusedPort } from '../../test/support/plain-server.ts';
import { defaultLimits } from '../config/defaults.ts';
import { createFetch } from './fetch.ts';

describe('fetch for vendor libraries', () => {
  const ownFetch = createFetch(() => defaultLimits);

  test('posts, streams the answer, and uses connections again', async (context) => {
    const { url, server } = await plainServer(context, async (request, response) => {
      const pieces = await request.toArray();
      response.writeHead(201, { 'x-own': '1' });
      response.write(Buffer.concat(pieces));
      response.end('!');
    });
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    for (let round = 0; round < 6; round += 1) {
      const response = await ownFetch(url, {
        method: 'POST',
        body: 'Grüße',
        headers: { 'content-type': 'text/plain' },
      });
      assert.equal(response.status, 201);
      assert.equal(response.headers.get('x-own'), '1');
      assert.equal(await response.text(), 'Grüße!');
    }
    assert.ok(connections <= 2, `${connections} connections`);
  });

  test('an abort closes the connection', async (context) => {
    const { promise: isClosed, resolve } = Promise.withResolvers<void>();
    const { url } = await plainServer(context, (_request, response) => {
      response.once('close', () => resolve());
      response.write('x');
    });
    const controller = new AbortController();
    const response = await ownFetch(url, { signal: controller.signal });
    controller.abort();
    await assert.rejects(response.text());
    await isClosed;
  });

  test('rejects where nobody is', async () => {
    await assert.rejects(ownFetch(`http://127.0.0.1:${await unusedPort()}`));
  });
});
