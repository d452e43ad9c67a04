import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertError, CHATS, CREATE, HI, openWorld, type World } from './edge-world.ts';

interface Named {
  readonly id: string;
}

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

  test('what is left open is not said, wherever a query is read', async () => {
    const items = [{ role: 'user', content: 'Hi' }];
    const { id: conversation } = (await world.ask({ path: '/v1/conversations', body: { items } })).json as Named;
    const answered = await world.ask({ path: '/v1/responses', body: { ...HI, input: 'Hi' } });
    const { id: response } = answered.json as Named;
    const anthropic = { 'anthropic-version': '2023-06-01' };
    for (const [path, names, headers = {}] of [
      ['/backend-api/v2/requests', ['provider', 'model', 'user', 'status', 'text', 'before', 'after', 'limit']],
      ['/backend-api/v2/media', ['search', 'kind', 'before', 'limit']],
      ['/backend-api/v2/stats', ['days', 'user']],
      ['/backend-api/v2/memory/ann', ['search', 'filters', 'metadata', 'page', 'page_size']],
      ['/v1/files', ['after', 'limit', 'order', 'purpose']],
      ['/v1/files', ['after_id', 'before_id', 'limit'], anthropic],
      ['/v1/models', ['after_id', 'before_id', 'limit'], anthropic],
      ['/v1beta/models', ['pageSize', 'pageToken']],
      ['/v1beta/files', ['pageSize', 'pageToken']],
      [`/v1/conversations/${conversation}/items`, ['after', 'limit', 'order', 'include']],
      [`/v1/responses/${response}/input_items`, ['after', 'limit', 'order', 'include']],
      [`/v1/responses/${response}`, ['include']],
    ] as const) {
      const without = await world.ask({ path, headers });
      assert.equal(without.status, 200, without.text);
      const members = Object.keys(without.json as object);
      for (const name of names) {
        const answer = await world.ask({ path: `${path}?${name}=`, headers });
        assert.equal(answer.status, 200, `${path}?${name}=: ${answer.text}`);
        assert.deepEqual(Object.keys(answer.json as object), members, `${path}?${name}=`);
      }
    }
    // Whoever has lost count would read twice what they have.
    const lost = await world.ask({ path: `/v1/responses/${response}?stream=true&starting_after=` });
    assert.equal(assertError(lost, 422).param, 'starting_after');
  });

  test('what is wrong in a query is looked for in the query', async () => {
    const answer = await world.ask({ path: '/v1/files?limit=many' });
    assert.equal(assertError(answer, 422).param, 'limit');
    const { detail } = answer.json as { detail: readonly { readonly loc: unknown }[] };
    assert.deepEqual(
      detail.map(({ loc }) => loc),
      [['query', 'limit']],
    );
  });

  test('on the other paths they mean nothing', async () => {
    for (const { path } of CHATS) {
      const answer = await world.ask({ path: `${path}?stream=true&provider=evil&messages[]=1`, body: HI });
      assert.equal(answer.status, 200, answer.text);
    }
  });
});
