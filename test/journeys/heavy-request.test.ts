import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HI, openWorld } from './edge-world.ts';

const MB = 1_024 * 1_024;

describe('a heavy request', { timeout: 60_000 }, () => {
  test('lets others be answered while it is taken in', async (context) => {
    await using world = await openWorld();
    const deep = JSON.parse(`${'{"a":['.repeat(40)}1${']}'.repeat(40)}`);
    const messages = Array.from({ length: 40 }, () => ({
      role: 'user',
      content: '# Title\n\n| a | b |\n'.repeat(10_000),
    }));
    const body = JSON.stringify({ ...HI, provider: 'mock', messages, metadata: deep });
    assert.ok(body.length > 7 * MB && body.length < 10 * MB, `${body.length} bytes`);
    let isOver = false;
    const heavy = world
      .ask({ path: '/v1/chat/completions', headers: { 'content-type': 'application/json' }, body })
      .finally(() => {
        isOver = true;
      });
    let longest = 0;
    let answered = 0;
    do {
      const began = performance.now();
      const light = await world.ask({ path: '/backend-api/v2/version' });
      assert.equal(light.status, 200);
      longest = Math.max(longest, performance.now() - began);
      answered += 1;
    } while (!isOver);
    assert.equal((await heavy).status, 200);
    assert.ok(answered >= 3, `${answered} were answered meanwhile`);
    context.diagnostic(`${answered} light requests meanwhile, the longest took ${Math.round(longest)} ms`);
  });
});
