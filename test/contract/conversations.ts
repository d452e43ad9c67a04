import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConversationItem, ConversationRecord, ConversationStore } from '../../src/core/stores.ts';
import { assertRefused, takes } from './assertions.ts';
import { HOSTILE_IDS } from './hostile-ids.ts';
import type { Open } from './worlds.ts';

const record = (id: string, metadata: Record<string, string> = {}): ConversationRecord => ({
  id,
  owner: null,
  createdAt: 1_700_000_000_123,
  metadata,
});
const items = (...ids: readonly string[]): readonly ConversationItem[] => ids.map((id) => ({ id, body: { text: id } }));
const ALL = { order: 'asc', limit: 1_000 } as const;

async function idsOf(store: ConversationStore, id: string): Promise<readonly string[]> {
  return (await store.items(id, ALL)).map((item) => item.id);
}

/** What every implementation of `ConversationStore` does. */
export function conversationsContract(name: string, open: Open<ConversationStore>): void {
  describe(`conversations: ${name}`, () => {
    test('what was never begun is absent', async (context) => {
      const { store } = await open(context);
      assert.equal(await store.get('a'), undefined);
      assert.equal(await store.describe('a', { x: 'y' }), false);
      assert.equal(await store.append('a', []), false);
      assert.equal(await store.append('a', items('1')), false);
      assert.deepEqual(await store.items('a', ALL), []);
      assert.deepEqual(await store.find('a', ['1']), []);
      assert.equal(await store.deleteItem('a', '1'), false);
      assert.equal(await store.delete('a'), false);
      assert.equal(await store.get('a'), undefined);
    });

    test('what was written comes back whole, also when it is opened again', async (context) => {
      const { store, reopen } = await open(context);
      const first = { ...record('a', { topic: 'é\u0000\ud83d\ude00', __proto__x: '' }), owner: 'f00' };
      const body = JSON.parse('{"text":"\\u0000 \\ud800","__proto__":{"polluted":true},"list":[1.5,null,{}]}');
      await store.create(first, [{ id: 'one', body }]);
      assert.equal(await store.append('a', items('two')), true);
      const again = await reopen();
      assert.deepEqual(await again.get('a'), first);
      assert.deepEqual(
        (await again.items('a', ALL)).map(({ place: _, ...rest }) => rest),
        [{ id: 'one', body }, ...items('two')],
      );
      assert.equal(Reflect.get({}, 'polluted'), undefined);
    });

    test('metadata are replaced as a whole, and nothing else', async (context) => {
      const { store } = await open(context);
      await store.create(record('a', { x: '1', y: '2' }), items('1'));
      assert.equal(await store.describe('a', { z: '3' }), true);
      assert.deepEqual(await store.get('a'), record('a', { z: '3' }));
      assert.deepEqual(await idsOf(store, 'a'), ['1']);
    });

    test('one conversation is begun once', async (context) => {
      const { store } = await open(context);
      await store.create(record('a', { x: '1' }), items('1'));
      await assert.rejects(store.create(record('a'), items('2')));
      assert.deepEqual(await store.get('a'), record('a', { x: '1' }));
      assert.deepEqual(await idsOf(store, 'a'), ['1']);
    });

    test('items are listed in both orders, from any place on, as many as asked for', async (context) => {
      const { store } = await open(context);
      await store.create(record('a'), items('1', '2'));
      await store.create(record('b'), items('x'));
      await store.append('a', items('3', '4'));
      await store.append('b', items('y'));
      await store.append('a', items('5'));
      const all = await store.items('a', ALL);
      assert.deepEqual(
        all.map(({ id }) => id),
        ['1', '2', '3', '4', '5'],
      );
      const [, second, third, fourth] = all;
      const ids = async (range: Parameters<ConversationStore['items']>[1]) =>
        (await store.items('a', range)).map(({ id }) => id).join('');
      assert.equal(await ids({ order: 'desc', limit: 3 }), '543');
      assert.equal(await ids({ order: 'asc', limit: 2, above: second?.place ?? 0 }), '34');
      assert.equal(await ids({ order: 'desc', limit: 9, below: third?.place ?? 0 }), '21');
      assert.equal(await ids({ order: 'asc', limit: 9, above: all[0]?.place ?? 0, below: fourth?.place ?? 0 }), '23');
      assert.equal(await ids({ order: 'asc', limit: 0 }), '');
    });

    test('items have a size, and are listed as long as they are small enough', async (context) => {
      const { store } = await open(context);
      const of = (id: string, length: number) => ({ id, body: { text: 'ä'.repeat(length / 2) } });
      await store.create(record('a'), [of('1', 1_000), of('2', 2_000), of('3', 5_000), of('4', 10)]);
      await store.create(record('b'), [of('5', 100_000)]);
      const { items: count, bytes } = await store.size('a');
      assert.equal(count, 4);
      assert.ok(bytes > 8_010 && bytes < 8_200, String(bytes));
      assert.deepEqual(await store.size('none'), { items: 0, bytes: 0 });
      const [first, second, third] = await store.items('a', ALL);
      assert.equal((await store.size('a', { above: first?.place ?? 0 })).items, 3);
      assert.equal((await store.size('a', { above: first?.place ?? 0, below: third?.place ?? 0 })).items, 1);
      const ids = async (range: Partial<Parameters<ConversationStore['items']>[1]>) =>
        (await store.items('a', { ...ALL, ...range })).map(({ id }) => id).join('');
      assert.equal(await ids({ bytes: 1 }), '1');
      assert.equal(await ids({ bytes: 1_500 }), '12');
      assert.equal(await ids({ bytes: 1_500, order: 'desc' }), '43');
      assert.equal(await ids({ bytes: 1_500, limit: 1 }), '1');
      assert.equal(await ids({ bytes: 1_500, above: second?.place ?? 0 }), '3');
      assert.equal(await ids({ bytes: 100_000 }), '1234');
    });

    test('items are found by their ids, in their own conversation only', async (context) => {
      const { store } = await open(context);
      await store.create(record('a'), items('1', '2', '3'));
      await store.create(record('b'), items('2', '4'));
      const found = await store.find('a', ['3', '4', '1', 'none']);
      assert.deepEqual(
        found.map(({ id, body }) => ({ id, body })),
        items('1', '3'),
      );
      assert.ok((found[0]?.place ?? 0) < (found[1]?.place ?? 0));
      assert.deepEqual(await store.find('a', []), []);
    });

    test('where one of the ids is taken, nothing is added', async (context) => {
      const { store, another } = await open(context);
      await store.create(record('a'), items('1'));
      await store.create(record('b'), items('2'));
      assert.equal(await store.append('a', [...items('2'), { id: '1', body: { text: 'other' } }]), false);
      assert.equal(await store.append('a', items('3', '3')), false);
      assert.deepEqual(
        (await store.items('a', ALL)).map(({ id, body }) => ({ id, body })),
        items('1'),
      );
      const handles = [store, await another()];
      const added = await Promise.all(
        Array.from({ length: 40 }, (_, n) => handles[n % 2]?.append('a', items('same', `${n}`))),
      );
      assert.equal(added.filter((isAdded) => isAdded).length, 1);
      assert.equal((await idsOf(store, 'a')).length, 3);
    });

    test('an item goes alone, and a conversation with all of its items', async (context) => {
      const { store } = await open(context);
      await store.create(record('a'), items('1', '2', '3'));
      await store.create(record('b'), items('1'));
      assert.equal(await store.deleteItem('a', '2'), true);
      assert.equal(await store.deleteItem('a', '2'), false);
      assert.deepEqual(await idsOf(store, 'a'), ['1', '3']);
      assert.equal(await store.delete('a'), true);
      assert.equal(await store.delete('a'), false);
      assert.deepEqual(await idsOf(store, 'a'), []);
      // One of the same name has nothing of it.
      await store.create(record('a'), []);
      assert.deepEqual(await idsOf(store, 'a'), []);
      assert.deepEqual(await idsOf(store, 'b'), ['1']);
    });

    test('what is added at once stands together, through two handles as well', async (context) => {
      const { store, another } = await open(context);
      const handles = [store, await another()];
      await store.create(record('a'), []);
      await Promise.all(
        Array.from({ length: 60 }, (_, n) => handles[n % 2]?.append('a', items(`${n}-a`, `${n}-b`, `${n}-c`))),
      );
      const ids = await idsOf(store, 'a');
      assert.equal(ids.length, 180);
      for (let at = 0; at < ids.length; at += 3) {
        const [n] = String(ids[at]).split('-');
        assert.deepEqual(ids.slice(at, at + 3), [`${n}-a`, `${n}-b`, `${n}-c`]);
      }
    });

    test('whatever is deleted while others add leaves no items behind', async (context) => {
      const { store, another } = await open(context);
      const other = await another();
      await store.create(record('a'), items('1'));
      const added = Array.from({ length: 20 }, (_, n) => other.append('a', items(`n${n}`)));
      await Promise.all([...added, store.delete('a')]);
      await store.create(record('a'), []);
      assert.deepEqual(await idsOf(store, 'a'), []);
    });

    test('no two ids share a conversation or an item', async (context) => {
      const { store } = await open(context);
      await store.create(record('victim', { mine: 'true' }), items('victim'));
      const taken: string[] = [];
      for (const id of HOSTILE_IDS) if (await takes(() => store.create(record(id), items(id)))) taken.push(id);
      assert.ok(taken.length >= 60, `only ${taken.length} ids were taken`);
      for (const id of taken) {
        assert.deepEqual(await idsOf(store, id), [id], JSON.stringify(id));
        if (id !== 'victim') assert.equal(await store.append('victim', items(id)), true);
      }
      assert.deepEqual(await idsOf(store, 'victim'), ['victim', ...taken]);
      for (const id of taken) {
        assert.equal((await store.find('victim', [id])).length, 1, JSON.stringify(id));
        assert.equal(await store.deleteItem('victim', id), true, JSON.stringify(id));
        assert.equal(await store.delete(id), true, JSON.stringify(id));
      }
      assert.deepEqual(await store.get('victim'), record('victim', { mine: 'true' }));
      assert.deepEqual(await idsOf(store, 'victim'), ['victim']);
    });

    test('an id that no database keeps as it is, is refused everywhere', async (context) => {
      const { store } = await open(context);
      await store.create(record('a'), []);
      for (const id of ['', 'a\0', '\udc00', 'x'.repeat(513)]) {
        await assertRefused(() => store.create(record(id), []), 'invalid_request');
        await assertRefused(() => store.create(record('new'), items(id)), 'invalid_request');
        await assertRefused(() => store.get(id), 'invalid_request');
        await assertRefused(() => store.describe(id, {}), 'invalid_request');
        await assertRefused(() => store.append(id, []), 'invalid_request');
        await assertRefused(() => store.append('a', items(id)), 'invalid_request');
        await assertRefused(() => store.items(id, ALL), 'invalid_request');
        await assertRefused(() => store.find('a', [id]), 'invalid_request');
        await assertRefused(() => store.deleteItem('a', id), 'invalid_request');
        await assertRefused(() => store.delete(id), 'invalid_request');
      }
      assert.equal(await store.get('new'), undefined);
    });
  });
}
