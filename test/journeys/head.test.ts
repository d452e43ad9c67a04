import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';

test('HEAD never makes a model or a voice work', async (context) => {
  const upstream = await startOpenAiUpstream();
  context.after(() => upstream.close());
  const gateway = await startGateway(`providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }`);
  context.after(() => gateway.close());
  const head = (path: string) => fetch(`${gateway.origin}/backend-api/v2/${path}`, { method: 'HEAD' });
  const answer = await head('create?prompt=Hi&provider=mock');
  assert.equal(answer.status, 405);
  assert.equal(answer.headers.get('allow'), 'GET');
  assert.equal((await head('synthesize/mock?text=Hi&model=tts-1&format=mp3')).status, 200);
  assert.equal(upstream.requests.filter(({ method }) => method === 'POST').length, 0);
  assert.equal((await head('version')).status, 200);
});
