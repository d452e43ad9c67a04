import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { UploadQuery, UploadRecord, UploadStore } from '../../src/core/stores.ts';
import { assertRefused, takes } from './assertions.ts';
import { HOSTILE_IDS } from './hostile-ids.ts';
import type { Open } from './worlds.ts';

const upload = (id: string, more: Partial<UploadRecord> = {}): UploadRecord => ({
  id,
  owner: null,
  name: 'a.pdf',
  mimeType: 'application/pdf',
  purpose: 'user_data',
  size: 12,
  createdAt: 1_700_000_000_123,
  expires: null,
  path: 'kept/a',
  ...more,
});
const ALL: UploadQuery = { owner: null, order: 'asc', limit: 100, now: 1_000 };

async function ids(store: UploadStore, query: Partial<UploadQuery> = {}): Promise<string> {
  return (await store.list({ ...ALL, ...query })).map(({ id }) => id).join(' ');
}

/** What every implementation of `UploadStore` does. */
export function uploadsContract(name: string, open: Open<UploadStore>): void {
  describe(`uploads: ${name}`, () => {
    test('what was never sent is absent', async (context) => {
      const { store } = await open(context);
      assert.equal(await store.get('a'), undefined);
      assert.equal(await store.delete('a'), false);
      assert.deepEqual(await store.list(ALL), []);
    });

    test('what was written comes back whole, also when it is opened again', async (context) => {
      const { store, reopen } = await open(context);
      const first = upload('a', { name: 'Grüße "世界"\n.pdf', owner: 'f00', expires: 5_000, size: 2 ** 40 });
      await store.add(first);
      const again = await reopen();
      assert.deepEqual(await again.get('a'), first);
      assert.equal(await again.delete('a'), true);
      assert.equal(await again.delete('a'), false);
      assert.equal(await again.get('a'), undefined);
    });

    test('an id is taken once', async (context) => {
      const { store } = await open(context);
      await store.add(upload('a'));
      await assert.rejects(store.add(upload('a', { name: 'other' })));
      assert.deepEqual(await store.get('a'), upload('a'));
    });

    test('lists are of one owner, in both orders, by purpose, from any file on', async (context) => {
      const { store } = await open(context);
      await store.add(upload('1', { owner: 'one' }));
      await store.add(upload('2', { owner: 'two' }));
      await store.add(upload('3'));
      await store.add(upload('4', { owner: 'one', purpose: 'vision' }));
      await store.add(upload('5', { owner: 'one' }));
      assert.equal(await ids(store), '3');
      assert.equal(await ids(store, { owner: 'one' }), '1 3 4 5');
      assert.equal(await ids(store, { owner: 'two' }), '2 3');
      assert.equal(await ids(store, { owner: 'one', order: 'desc', limit: 2 }), '5 4');
      assert.equal(await ids(store, { owner: 'one', purpose: 'vision' }), '4');
      assert.equal(await ids(store, { owner: 'one', after: '3' }), '4 5');
      assert.equal(await ids(store, { owner: 'one', order: 'desc', after: '4' }), '3 1');
      assert.equal(await ids(store, { owner: 'one', after: 'none' }), '');
    });

    test('what has expired is not listed, and found to be deleted', async (context) => {
      const { store } = await open(context);
      await store.add(upload('a', { expires: 1_000 }));
      await store.add(upload('b', { expires: 1_001 }));
      await store.add(upload('c', { expires: 500 }));
      await store.add(upload('d'));
      assert.equal(await ids(store), 'b d');
      const expired = async (now: number, limit: number) => (await store.expired(now, limit)).map(({ id }) => id);
      assert.deepEqual(await expired(1_000, 10), ['c', 'a']);
      assert.deepEqual(await expired(1_000, 1), ['c']);
      assert.deepEqual(await expired(1, 10), []);
    });

    test('no two ids share a file', async (context) => {
      const { store } = await open(context);
      await store.add(upload('victim', { name: 'mine' }));
      const taken: string[] = [];
      for (const id of HOSTILE_IDS) if (await takes(() => store.add(upload(id, { name: id })))) taken.push(id);
      assert.ok(taken.length >= 60, `only ${taken.length} ids were taken`);
      for (const id of taken) assert.equal((await store.get(id))?.name, id);
      for (const id of taken) assert.equal(await store.delete(id), true, JSON.stringify(id));
      assert.deepEqual(await store.list(ALL), [upload('victim', { name: 'mine' })]);
    });

    test('an id that no database keeps as it is, is refused everywhere', async (context) => {
      const { store } = await open(context);
      for (const id of ['', 'a\0', '\udc00', 'x'.repeat(513)]) {
        await assertRefused(() => store.add(upload(id)), 'invalid_request');
        await assertRefused(() => store.get(id), 'invalid_request');
        await assertRefused(() => store.list({ ...ALL, after: id }), 'invalid_request');
        await assertRefused(() => store.delete(id), 'invalid_request');
      }
    });
  });
}
