import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertError, CHATS, CREATE, HI, openWorld, type World } from './edge-world.ts';

describe('queries', () => {
  let world: World;
  before(async () => {
    world = await openWorld();
  });
  after(() => world.close());

  test('a parameter twice, or as something else than text', async () => {
    for (const [query, field] of [
      ['', 'prompt'],
      ['prompt', 'prompt'],
      ['prompt=', 'prompt'],
      ['prompt=a&prompt=b', 'prompt'],
      ['prompt[]=a', 'prompt'],
      ['prompt[0]=a', 'prompt'],
      ['prompt.x=a', 'prompt'],
      ['prompt=a&model=b&model=c', 'model'],
      ['prompt=a&provider=mock&provider=mock', 'provider'],
      ['prompt=a&filter_markdown=true&filter_markdown=true', 'filter_markdown'],
      ['prompt=a&cache=1&cache=2', 'cache'],
      [`prompt=a&filter_markdown=${'x'.repeat(1_001)}`, 'filter_markdown'],
    ] as const) {
      const { param } = assertError(await world.ask({ path: `${CREATE}?${query}` }), 400, query);
      assert.equal(param, field, query);
    }
    for (const query of ['format=x', 'format=list&format=list']) {
      assert.equal(assertError(await world.ask({ path: `/backend-api/v2/models?${query}` }), 400).param, 'format');
    }
    assert.equal(world.upstream.chats.length, 0);
  });

  test('what cannot be read as a query is safe', async () => {
    for (const query of [
      '%',
      '%zz=%zz',
      '%ff=%ff',
      '=',
      '==',
      '&&&',
      '=&=&=',
      '?',
      '??',
      'a[b][c][d]=e',
      '%00=%00',
      '+',
      '%5B%5D=1',
      'cache[]=1',
      Array.from({ length: 1_000 }, (_, index) => `p${index}`).join('&'),
    ]) {
      assert.equal((await world.ask({ path: `/backend-api/v2/version?${query}` })).status, 200, query);
      const answer = await world.ask({ path: `${CREATE}?prompt=Hi&${query}` });
      assert.equal(answer.text, 'Hello from the upstream.', query);
    }
    assert.equal((await world.ask({ path: '/backend-api/v2/version?cache=1&cache=2' })).status, 200);
    for (const prompt of ['%', '%ff', '%zz', '%00', '%E0%A4%A', 'a%0d%0ax-evil:1', '%ed%a0%80']) {
      const answer = await world.ask({ path: `${CREATE}?prompt=${prompt}` });
      assert.equal(answer.text, 'Hello from the upstream.', prompt);
      assert.equal(world.last.headers['x-evil'], undefined);
    }
  });

  test('a filter is a list of words, not a pattern', async () => {
    await using coding = await openWorld({ script: () => ({ text: ['```js\nlet a;\n```\nof the upstream.'] }) });
    const filtered = (filter: string) => coding.ask({ path: `${CREATE}?prompt=Hi&filter_markdown=${filter}` });
    assert.equal((await filtered('py,js')).text, 'let a;');
    for (const filter of ['(a%2B)%2B%24', '.*', '%5B', '(', '**', '%5C', '(?=a)', '[^]', 'j', 'j.', 'py|js']) {
      const answer = await filtered(filter);
      assert.deepEqual([answer.status, answer.text], [200, ''], filter);
    }
  });

  test('on the other paths they mean nothing', async () => {
    for (const { path } of CHATS) {
      const answer = await world.ask({ path: `${path}?stream=true&provider=evil&messages[]=1`, body: HI });
      assert.equal(answer.status, 200, answer.text);
    }
  });
});
