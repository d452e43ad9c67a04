import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HI } from './gemini-world.ts';
import { assertHolds, openWorld, type World } from './sdk-vendors.ts';

describe('the access key of clients of the Gemini API', { timeout: 60_000 }, () => {
  let world: World;
  before(async () => {
    world = await openWorld("key: 'open-sesame'");
  });
  after(() => world.close());

  test('comes in a header or in the query, and reaches no provider', async () => {
    const url = `${world.origin}/v1beta/models/acme/test-model:generateContent`;
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(HI) };
    const seat = world.seat('openai');
    seat.answers({ text: ['Yes'] });
    for (const [address, headers, status] of [
      [url, {}, 401],
      [url, { 'x-goog-api-key': 'wrong' }, 401],
      [`${url}?key=wrong`, {}, 401],
      [url, { 'x-goog-api-key': 'open-sesame' }, 200],
      [`${url}?key=open-sesame`, {}, 200],
      [url, { authorization: 'Bearer open-sesame' }, 200],
      [`${world.origin}/v1/models/acme/test-model:generateContent?key=open-sesame`, {}, 200],
    ] as const) {
      const answer = await fetch(address, { ...init, headers: { ...init.headers, ...headers } });
      assert.equal(answer.status, status, `${address} ${JSON.stringify(headers)}`);
      if (status === 401) assertHolds(await answer.json(), { error: { code: 401, status: 'UNAUTHENTICATED' } });
    }
    assert.equal(seat.arrived.length, 4);
    assert.ok(seat.arrived.every(({ headers }) => !JSON.stringify(headers).includes('open-sesame')));
    const listing = await fetch(`${world.origin}/v1beta/models?key=open-sesame`, { redirect: 'manual' });
    assert.equal(listing.status, 200, 'no detour over a cookie');
    const get = async (path: string, key: string): Promise<number> =>
      (await fetch(`${world.origin}${path}`, { headers: { 'x-goog-api-key': key } })).status;
    assert.equal(await get('/v1/models', 'open-sesame'), 200);
    assert.equal(await get('/v1/models', 'wrong'), 401);
    // Elsewhere the header is none of ours.
    assert.equal(await get('/v1/providers', 'open-sesame'), 401);
  });
});
