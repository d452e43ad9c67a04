import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import { plainServer, unusedPort } from '../../test/support/plain-server.ts';
import { defaultLimits } from '../config/defaults.ts';
import { ask, createFetch, toResponse } from './fetch.ts';
import { createUpstreamClient } from './upstream.ts';

describe('fetch for vendor libraries', () => {
  const client = createUpstreamClient(() => defaultLimits);
  const ownFetch = createFetch(client);

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

  test('closes the connection of an answer that nobody wants to the end', async (context) => {
    let closed = 0;
    const { url } = await plainServer(context, (request, response) => {
      response.once('close', () => (closed += 1));
      response.writeHead(Number(request.url?.slice(1))).write('x');
    });
    await (await ownFetch(`${url}/200`)).body?.cancel();
    await assert.rejects(ownFetch(`${url}/700`), { code: 'upstream_invalid' });
    const refusal = new Error('not taken in');
    const pass = (): never => {
      throw refusal;
    };
    await assert.rejects(toResponse(await ask(client, `${url}/200`), { pass }).text(), refusal);
    await eventually('all three are closed', () => closed === 3);
  });

  test('rejects where nobody is', async () => {
    await assert.rejects(ownFetch(`http://127.0.0.1:${await unusedPort()}`), { code: 'upstream_unreachable' });
  });

  test('sends every kind of body as the standard says', async (context) => {
    const { url } = await plainServer(context, async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      response.end(JSON.stringify({ method: request.method, type: request.headers['content-type'] ?? null, body }));
    });
    const sent = async (init: RequestInit): Promise<unknown> => (await ownFetch(url, init)).json();
    assert.deepEqual(await sent({}), { method: 'GET', type: null, body: '' });
    assert.deepEqual(await sent({ method: 'POST', body: 'a' }), {
      method: 'POST',
      type: 'text/plain;charset=UTF-8',
      body: 'a',
    });
    const headers = { 'Content-Type': 'application/json' };
    assert.deepEqual(await sent({ method: 'PUT', headers, body: new TextEncoder().encode('{}').subarray(0, 1) }), {
      method: 'PUT',
      type: 'application/json',
      body: '{',
    });
    assert.deepEqual(await sent({ method: 'POST', body: new URLSearchParams({ a: 'b c' }) }), {
      method: 'POST',
      type: 'application/x-www-form-urlencoded;charset=UTF-8',
      body: 'a=b+c',
    });
    const form = new FormData();
    form.set('name', 'é');
    form.set('file', new Blob(['bytes'], { type: 'audio/wav' }), 'a.wav');
    const asForm = (await sent({ method: 'POST', body: form })) as { type: string; body: string };
    const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(asForm.type)?.[1] ?? 'none';
    assert.equal(asForm.body.split(`--${boundary}`).length, 4);
    assert.match(asForm.body, /name="name"\r\n\r\né\r\n/);
    const request = new Request(url, { method: 'DELETE' });
    assert.deepEqual(await (await ownFetch(request)).json(), { method: 'DELETE', type: null, body: '' });
  });

  test('follows no redirect, and takes answers without a body', async (context) => {
    const { url } = await plainServer(context, (request, response) => {
      const status = Number(new URL(request.url ?? '/', 'http://x').searchParams.get('status'));
      response.writeHead(status, { location: '/elsewhere', 'set-cookie': ['a=1', 'b=2'] }).end();
    });
    for (const status of [204, 205, 302, 304, 418, 599]) {
      const response = await ownFetch(`${url}?status=${status}`);
      assert.equal(response.status, status);
      assert.equal(response.headers.get('location'), '/elsewhere');
      assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2']);
      assert.equal(await response.text(), '');
    }
    await assert.rejects(ownFetch(`${url}?status=700`), { code: 'upstream_invalid' });
  });

  test('reads no further than it is read', async (context) => {
    let written = 0;
    const { url } = await plainServer(context, (_request, response) => {
      const piece = Buffer.alloc(64 * 1024);
      const more = (): void => {
        while (written < 64 * 1024 * 1024) {
          written += piece.length;
          if (!response.write(piece)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const response = await ownFetch(url);
    const reader = response.body?.getReader();
    await reader?.read();
    await sleep(300);
    assert.ok(written < 32 * 1024 * 1024, `${written} bytes were taken in`);
    await reader?.cancel();
  });
});
