import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../support/gateway.ts';

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly requestBody?: { required: boolean } }>>>>;
}

/** OpenAI's library for Python names a type of body with every request, `fetch` and curl do when they are told to. */
const TYPES = [
  '',
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
];

test('a content type without a body is no body, wherever there need not be one', {
  timeout: 60_000,
}, async (context) => {
  const gateway = await startGateway('');
  context.after(() => gateway.close());
  const { paths } = (await (await fetch(`${gateway.origin}/openapi.json`)).json()) as OpenApi;
  const asked: string[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { requestBody }] of Object.entries(methods)) {
      if (method === 'get' || requestBody?.required === true) continue;
      if (method === 'post' && requestBody === undefined && !/cancel$/.test(path)) continue;
      asked.push(`${method} ${path}`);
      for (const type of TYPES) {
        const response = await fetch(gateway.origin + path.replace(/\{[^}]*\}/g, 'x'), {
          method: method.toUpperCase(),
          headers: { 'content-type': type },
        });
        const answer = await response.text();
        assert.notEqual(response.status, 415, `${method} ${path} ${type}: ${answer}`);
        assert.doesNotMatch(answer, /body/i, `${method} ${path} ${type}`);
      }
    }
  }
  for (const each of ['delete /v1/responses/{id}', 'post /v1/responses/{id}/cancel', 'post /v1/conversations']) {
    assert.ok(asked.includes(each), `${each} is not among ${asked.join(', ')}`);
  }
});

test('a body that is missing where there has to be one is told so', { timeout: 60_000 }, async (context) => {
  const gateway = await startGateway('');
  context.after(() => gateway.close());
  const response = await fetch(`${gateway.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /The body is empty: send a JSON object/);
});

test('a body in chunks, whose length nobody tells, is read also where there need not be one', {
  timeout: 60_000,
}, async (context) => {
  const gateway = await startGateway('');
  context.after(() => gateway.close());
  const metadata = { topic: 'rain' };
  const response = await fetch(`${gateway.origin}/v1/conversations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: new Blob([JSON.stringify({ metadata })]).stream(),
    duplex: 'half',
  } as RequestInit);
  const answer = await response.text();
  assert.equal(response.status, 200, answer);
  assert.deepEqual(JSON.parse(answer).metadata, metadata);
});
