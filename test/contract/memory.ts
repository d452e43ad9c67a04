import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MemoryItem, MemoryQuery, MemoryStore } from '../../src/core/stores.ts';
import { assertRefused, takes } from './assertions.ts';
import { HOSTILE_IDS } from './hostile-ids.ts';
import type { Open } from './worlds.ts';

const item = (userId: string, id: string, more: Partial<MemoryItem> = {}): MemoryItem => ({
  id,
  userId,
  role: 'user',
  text: `text of ${id}`,
  conversationId: null,
  metadata: {},
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_000_000,
  ...more,
});
const texts = (userId: string, ...all: readonly string[]) =>
  all.map((text, index) => item(userId, `${index}`, { text, createdAt: index }));

/** The ids that are found. */
async function ids(store: MemoryStore, userId: string, query: Partial<MemoryQuery> = {}): Promise<readonly string[]> {
  const { total, items } = await store.find(userId, { offset: 0, limit: 1_000, ...query });
  assert.equal(total, items.length);
  return items.map(({ id }) => id);
}

/** What every implementation of `MemoryStore` does. */
export function memoryContract(name: string, open: Open<MemoryStore>): void {
  describe(`memory: ${name}`, () => {
    test('an unknown user has nothing', async (context) => {
      const { store } = await open(context);
      assert.deepEqual(await store.find('nobody', { offset: 0, limit: 10 }), { total: 0, items: [] });
      assert.deepEqual(await store.find('nobody', { text: 'text', offset: 0, limit: 10 }), { total: 0, items: [] });
      assert.equal(await store.delete('nobody'), 0);
      assert.equal(await store.delete('nobody', 'a'), 0);
      await store.add([]);
    });

    test('an item comes back whole', async (context) => {
      const { store } = await open(context);
      const metadata = JSON.parse('{"tags":["a",{"b":null}],"__proto__":{"polluted":true},"":"","n":1.5,"yes":true}');
      const whole = item('u', 'a', {
        role: 'assistant',
        text: '  Grüße,\n"quoted" \u{1f600} \u2028 e\u0301 ',
        conversationId: 'c-1',
        metadata,
        createdAt: 1_700_000_000_123,
        updatedAt: 1_700_000_000_456,
      });
      await store.add([whole, item('u', 'empty', { text: '', role: '', createdAt: 0 })]);
      const { items } = await store.find('u', { offset: 0, limit: 10 });
      assert.deepEqual(items, [whole, item('u', 'empty', { text: '', role: '', createdAt: 0 })]);
      assert.equal(Reflect.get({}, 'polluted'), undefined);
    });

    test('the newest come first, of the same age those that were added last', async (context) => {
      const { store } = await open(context);
      await store.add([
        item('u', 'b', { createdAt: 2 }),
        item('u', 'c', { createdAt: 3 }),
        item('u', 'a', { createdAt: 1 }),
      ]);
      await store.add([item('u', 'b2', { createdAt: 2 }), item('u', 'b3', { createdAt: 2 })]);
      assert.deepEqual(await ids(store, 'u'), ['c', 'b3', 'b2', 'b', 'a']);
    });

    test('pages are parts of one order, and the total counts all', async (context) => {
      const { store } = await open(context);
      await store.add(Array.from({ length: 25 }, (_, n) => item('u', `${n}`, { text: 'same words', createdAt: n })));
      for (const text of [undefined, 'words']) {
        const query = text === undefined ? {} : { text };
        const pages = await Promise.all(
          [0, 10, 20, 30].map((offset) => store.find('u', { ...query, offset, limit: 10 })),
        );
        assert.deepEqual(
          pages.map(({ total }) => total),
          [25, 25, 25, 25],
        );
        assert.deepEqual(
          pages.map(({ items }) => items.length),
          [10, 10, 5, 0],
        );
        assert.equal(new Set(pages.flatMap(({ items }) => items.map(({ id }) => id))).size, 25);
      }
      assert.deepEqual(await store.find('u', { offset: 0, limit: 0 }), { total: 25, items: [] });
    });

    test('adding an id again replaces the item, in the index too, but not when it came', async (context) => {
      const { store } = await open(context);
      await store.add([item('u', 'a', { text: 'likes apples' }), item('v', 'a', { text: 'likes apples' })]);
      const again = item('u', 'a', {
        text: 'likes pears',
        role: 'assistant',
        conversationId: 'c',
        metadata: { n: 2 },
        createdAt: 1_800_000_000_000,
        updatedAt: 1_800_000_000_001,
      });
      await store.add([again]);
      const { items } = await store.find('u', { offset: 0, limit: 10 });
      assert.deepEqual(items, [{ ...again, createdAt: 1_700_000_000_000 }]);
      assert.deepEqual(await ids(store, 'u', { text: 'apples' }), []);
      assert.deepEqual(await ids(store, 'u', { text: 'pears' }), ['a']);
      assert.deepEqual(await ids(store, 'v', { text: 'apples' }), ['a']);
    });

    describe('search', () => {
      test('finds items with any of the words, the best first, with falling scores', async (context) => {
        const { store } = await open(context);
        await store.add([
          ...texts('u', 'The cat sleeps', 'The dog and the cat play', 'A bird sings', 'The dog barks'),
          ...Array.from({ length: 20 }, (_, n) => item('u', `other-${n}`, { text: `nothing of interest ${n}` })),
        ]);
        const { total, items } = await store.find('u', { text: 'dog cat', offset: 0, limit: 10 });
        assert.equal(total, 3);
        assert.equal(items[0]?.id, '1');
        const scores = items.map(({ score }) => score ?? -1);
        assert.ok(
          scores.every((score) => score > 0),
          `${scores}`,
        );
        assert.deepEqual(
          scores,
          [...scores].sort((one, other) => other - one),
        );
        assert.deepEqual((await store.find('u', { offset: 0, limit: 1 })).items[0]?.score, undefined);
      });

      test('takes a word for one that stands there twice, in whichever case', async (context) => {
        const { store } = await open(context);
        await store.add(texts('u', 'a cat', 'the cat', 'cat and dog'));
        const { items } = await store.find('u', { text: 'CAT Cat dog', offset: 0, limit: 10 });
        assert.deepEqual(
          items.map(({ id, score = 0 }) => [id, score > 0]),
          [
            ['2', true],
            ['1', true],
            ['0', true],
          ],
        );
      });

      test('takes no notice of case and accents, and takes the last word for a beginning', async (context) => {
        const { store } = await open(context);
        await store.add(texts('u', 'Das CAFÉ in Köln', 'Straßenbahn', 'programming languages'));
        assert.deepEqual(await ids(store, 'u', { text: 'cafe' }), ['0']);
        assert.deepEqual(await ids(store, 'u', { text: 'Cafe\u0301' }), ['0']);
        assert.deepEqual(await ids(store, 'u', { text: 'KOLN' }), ['0']);
        assert.deepEqual(await ids(store, 'u', { text: 'progr' }), ['2']);
        assert.deepEqual(await ids(store, 'u', { text: 'progr xyz' }), [], 'only the last word may go on');
        assert.deepEqual(await ids(store, 'u', { text: 'pr' }), [], 'two letters are no beginning');
        assert.deepEqual(await ids(store, 'u', { text: 'gramming' }), [], 'a word does not match in its middle');
      });

      test('finds words of scripts without blanks', async (context) => {
        const { store } = await open(context);
        await store.add(texts('u', '私は日本語を勉強しています', '我喜欢喝咖啡', 'ฉันชอบกาแฟ'));
        assert.deepEqual(await ids(store, 'u', { text: '日本語' }), ['0']);
        assert.deepEqual(await ids(store, 'u', { text: '咖啡' }), ['1']);
        assert.deepEqual(await ids(store, 'u', { text: 'กาแฟ' }), ['2']);
        assert.deepEqual(await ids(store, 'u', { text: '語日' }), []);
      });

      test('finds Korean words with other particles behind them', async (context) => {
        const { store } = await open(context);
        await store.add(texts('u', '저는 서울에 삽니다', '부산은 바다가 가깝습니다'));
        assert.deepEqual(await ids(store, 'u', { text: '서울 날씨 어때' }), ['0']);
        assert.deepEqual(await ids(store, 'u', { text: '바다 부산' }), ['1']);
      });

      test('nothing in a question is an operator or a pattern', async (context) => {
        const { store } = await open(context);
        await store.add(texts('u', 'plain', 'near and or not', '100% sure', 'column text owner'));
        for (const text of [
          '',
          ' ',
          '*',
          '%',
          '_',
          '"',
          '""',
          "'",
          '(',
          ')',
          ':',
          '^',
          '-',
          '+',
          '\\',
          '\0',
          '\u0301',
        ]) {
          assert.deepEqual(await ids(store, 'u', { text }), [], JSON.stringify(text));
        }
        assert.deepEqual(await ids(store, 'u', { text: 'pla%' }), ['0'], 'the sign is no part of the word');
        assert.deepEqual(await ids(store, 'u', { text: 'xyz OR plain' }).then((found) => [...found].sort()), [
          '0',
          '1',
        ]);
        assert.deepEqual(await ids(store, 'u', { text: 'plain NOT plain' }).then((found) => [...found].sort()), [
          '0',
          '1',
        ]);
        assert.deepEqual(await ids(store, 'u', { text: 'owner : "plain' }).then((found) => [...found].sort()), [
          '0',
          '3',
        ]);
        assert.deepEqual(await ids(store, 'u', { text: 'NEAR("plain")*' }).then((found) => [...found].sort()), [
          '0',
          '1',
        ]);
        assert.deepEqual(await ids(store, 'u', { text: '{text} : nothing}' }), ['3']);
      });

      test('a question and an item may be long', async (context) => {
        const { store } = await open(context);
        await store.add(texts('u', `needle ${'hay '.repeat(250_000)}`, '\u0301'.repeat(100_000)));
        assert.deepEqual(await ids(store, 'u', { text: `needle ${'straw '.repeat(50_000)}` }), ['0']);
        const words = Array.from({ length: 5_000 }, (_, n) => `word${n}`).join(' ');
        assert.deepEqual(await ids(store, 'u', { text: `needle ${words}` }), ['0']);
        assert.deepEqual(await ids(store, 'u', { text: '\u0301'.repeat(100_000) }), []);
      });
    });

    describe('filters', () => {
      test('compare the item and its metadata, kind of value included', async (context) => {
        const { store } = await open(context);
        await store.add([
          item('u', 'a', {
            role: 'user',
            conversationId: 'c',
            metadata: { n: 1, s: '1', yes: true, none: null, o: {} },
          }),
          item('u', 'b', { role: 'assistant', metadata: { n: 1.5, s: 'x', yes: false } }),
        ]);
        const cases: readonly [NonNullable<MemoryQuery['filters']>, readonly string[]][] = [
          [{}, ['b', 'a']],
          [{ id: 'a' }, ['a']],
          [{ role: 'assistant' }, ['b']],
          [{ role: 'Assistant' }, []],
          [{ conversation_id: 'c' }, ['a']],
          [{ conversation_id: null }, ['b']],
          [{ n: 1 }, ['a']],
          [{ n: 1.5 }, ['b']],
          [{ n: '1' }, []],
          [{ s: '1' }, ['a']],
          [{ s: 1 }, []],
          [{ o: '{}' }, []],
          [{ yes: true }, ['a']],
          [{ yes: false }, ['b']],
          [{ yes: 'true' }, []],
          [{ yes: 1 }, []],
          [{ none: null }, ['a']],
          [{ missing: null }, []],
          [{ id: 5 }, []],
          [{ role: true }, []],
          [{ n: 1, role: 'user' }, ['a']],
          [{ n: 1, role: 'assistant' }, []],
          [{ user_id: 'u' }, ['b', 'a']],
          [{ user_id: 'U' }, []],
          [{ memory: 'text of a' }, ['a']],
          [{ memory: 'text' }, []],
          [{ created_at: 1_700_000_000_000 }, ['b', 'a']],
          [{ created_at: 1_700_000_000_001 }, []],
          [{ created_at: '1700000000000' }, []],
          [{ updated_at: 1_700_000_000_000 }, ['b', 'a']],
        ];
        for (const [filters, expected] of cases) {
          assert.deepEqual(await ids(store, 'u', { filters }), expected, JSON.stringify(filters));
        }
        assert.deepEqual(await ids(store, 'u', { filters: { n: 1 }, text: 'text' }), ['a']);
      });

      test('of the metadata look nowhere else', async (context) => {
        const { store } = await open(context);
        await store.add([
          item('u', 'a', { conversationId: 'c', metadata: { role: 'x', id: 'b', memory: 'm' }, createdAt: 0.7 }),
          item('u', 'b', { conversationId: 'c', metadata: { role: 'user' }, createdAt: 0.1 }),
        ]);
        const cases: readonly [Partial<MemoryQuery>, readonly string[]][] = [
          [{ metadata: { role: 'user' } }, ['b']],
          [{ metadata: { id: 'a' } }, []],
          [{ metadata: { id: 'b' } }, ['a']],
          [{ metadata: { memory: 'm' } }, ['a']],
          [{ metadata: { conversation_id: 'c' } }, ['a', 'b']],
          [{ metadata: { conversation_id: null } }, []],
          [{ filters: { role: 'user' }, metadata: { role: 'x' } }, ['a']],
          [{ filters: { conversation_id: 'c' }, metadata: { conversation_id: 'd' } }, []],
          [{ filters: { created_at: 0 } }, ['a', 'b']],
        ];
        for (const [query, expected] of cases) {
          assert.deepEqual(await ids(store, 'u', query), expected, JSON.stringify(query));
        }
      });

      test('take any name, and find only what has it', async (context) => {
        const { store } = await open(context);
        const names = [
          ...HOSTILE_IDS.filter((id) => id.isWellFormed()),
          '',
          'a"b',
          'a.b',
          '$',
          '$.a',
          '$[0]',
          'user_id',
          '#-1',
        ];
        const metadata = (only: string) => JSON.parse(`{${JSON.stringify(only)}:"here"}`);
        await store.add(names.map((only, n) => item('u', `${n}`, { metadata: metadata(only), createdAt: -n })));
        await store.add([item('u', 'nested', { metadata: { a: { b: 'here' }, list: ['here'] } })]);
        for (const [n, only] of names.entries()) {
          const same = names.flatMap((each, index) => (each === only ? [`${index}`] : []));
          assert.deepEqual(await ids(store, 'u', { metadata: metadata(only) }), same, `${n} ${JSON.stringify(only)}`);
        }
        assert.deepEqual(await ids(store, 'u', { metadata: metadata('toLocaleString') }), []);
      });
    });

    describe('isolation', () => {
      test('all of a user is forgotten, however much it is', async (context) => {
        const { store } = await open(context);
        await store.add([...Array.from({ length: 1_001 }, (_, n) => item('u', `${n}`)), item('v', 'a')]);
        assert.equal(await store.delete('u'), 1_001);
        assert.deepEqual(await ids(store, 'u'), []);
        assert.deepEqual(await ids(store, 'u', { text: 'text' }), []);
        assert.deepEqual(await ids(store, 'v', { text: 'text' }), ['a']);
      });

      test('no user sees, finds or deletes what is another one’s', async (context) => {
        const { store } = await open(context);
        await store.add([item('victim', 'a', { text: 'secret', conversationId: 'c', metadata: { k: 'v' } })]);
        const users: string[] = [];
        for (const user of HOSTILE_IDS) {
          if (await takes(() => store.add([item(user, 'a', { text: `secret of ${user}`, metadata: { user } })]))) {
            users.push(user);
          }
        }
        assert.ok(users.length >= 60, `only ${users.length} ids were taken`);
        const queries: readonly Partial<MemoryQuery>[] = [
          {},
          { text: 'secret' },
          { filters: { id: 'a' } },
          { filters: { role: 'user' }, text: 'secret' },
        ];
        for (const user of users) {
          for (const query of queries) {
            const { total, items } = await store.find(user, { offset: 0, limit: 100, ...query });
            assert.equal(total, 1, JSON.stringify(user));
            assert.deepEqual(
              items.map(({ userId, metadata }) => [userId, metadata['user']]),
              [[user, user]],
            );
          }
          assert.deepEqual(await ids(store, user, { filters: { k: 'v' } }), []);
          assert.deepEqual(await ids(store, user, { filters: { user_id: 'victim' } }), []);
          assert.equal(await store.delete(user, 'b'), 0);
        }
        for (const user of users) assert.equal(await store.delete(user), 1, JSON.stringify(user));
        assert.deepEqual(await ids(store, 'victim', { text: 'secret' }), ['a']);
      });

      test('no two ids of a user share an item', async (context) => {
        const { store } = await open(context);
        const taken: string[] = [];
        for (const id of HOSTILE_IDS) if (await takes(() => store.add([item('u', id, { text: id })]))) taken.push(id);
        assert.equal((await ids(store, 'u')).length, taken.length);
        for (const id of taken) {
          const { items } = await store.find('u', { filters: { id }, offset: 0, limit: 10 });
          assert.deepEqual(
            items.map(({ text }) => text),
            [id],
            JSON.stringify(id),
          );
        }
        for (const id of taken) assert.equal(await store.delete('u', id), 1, JSON.stringify(id));
      });

      test('an id that no database keeps as it is, is refused, and nothing of its batch is written', async (context) => {
        const { store } = await open(context);
        for (const bad of ['', 'a\0', '\ud800', 'x'.repeat(513)]) {
          await assertRefused(() => store.add([item('u', 'good'), item(bad, 'a')]), 'invalid_request');
          await assertRefused(() => store.add([item('u', 'good'), item('u', bad)]), 'invalid_request');
          await assertRefused(() => store.find(bad, { offset: 0, limit: 1 }), 'invalid_request');
          await assertRefused(() => store.delete(bad), 'invalid_request');
        }
        assert.deepEqual(await ids(store, 'u'), []);
      });
    });

    test('deleting tells how many there were, and takes them out of the index', async (context) => {
      const { store } = await open(context);
      await store.add([...texts('u', 'one word', 'two words', 'three words'), ...texts('v', 'one word')]);
      assert.equal(await store.delete('u', '1'), 1);
      assert.equal(await store.delete('u', '1'), 0);
      assert.deepEqual(await ids(store, 'u', { text: 'two' }), []);
      assert.equal(await store.delete('u'), 2);
      assert.deepEqual(await ids(store, 'u', { text: 'one two three words' }), []);
      assert.deepEqual(await ids(store, 'v', { text: 'word' }), ['0']);
    });

    test('parallel writes lose nothing', async (context) => {
      const { store } = await open(context);
      const batches = Array.from({ length: 60 }, (_, n) => [0, 1, 2].map((m) => item(`u${n % 3}`, `${n}-${m}`)));
      await Promise.all(batches.map((batch) => store.add(batch)));
      for (const user of ['u0', 'u1', 'u2']) {
        assert.equal((await ids(store, user)).length, 60);
        assert.equal((await ids(store, user, { text: 'text' })).length, 60);
      }
    });

    test('everything is there when it is opened again, also for a search', async (context) => {
      const { store, reopen } = await open(context);
      await store.add(texts('u', 'apples', 'pears', 'plums'));
      await store.delete('u', '1');
      const again = await reopen();
      assert.deepEqual(await ids(again, 'u'), ['2', '0']);
      assert.deepEqual(await ids(again, 'u', { text: 'pears plums' }), ['2']);
    });
  });
}
