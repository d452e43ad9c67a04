import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { membersOf } from '../../src/core/objects.ts';
import type { CacheRecord, ChatRecord, Records } from '../../src/core/stores.ts';
import { assertRefused, takes } from './assertions.ts';
import { HOSTILE_IDS } from './hostile-ids.ts';
import type { Open } from './worlds.ts';

const chat = (id: string, body: Record<string, unknown> = {}, updated = 0): ChatRecord => ({
  id,
  owner: null,
  updated,
  body,
});
const increment = (id: string) => (present: ChatRecord | undefined) => chat(id, {}, (present?.updated ?? 0) + 1);

/** What every implementation of `Records` does. */
export function recordsContract(name: string, open: Open<Records<ChatRecord>>): void {
  describe(`records: ${name}`, () => {
    test('what was never written is absent', async (context) => {
      const { store } = await open(context);
      assert.equal(await store.get('a'), undefined);
      assert.equal(await store.delete('a'), false);
    });

    test('what was written comes back whole, and the last write counts', async (context) => {
      const { store } = await open(context);
      const first = { id: 'a', owner: 'f00', updated: 1_700_000_000_000, body: { title: 'one', items: [{ n: 1.5 }] } };
      await store.put(first);
      assert.deepEqual(await store.get('a'), first);
      await store.put(chat('a', { title: 'two' }));
      assert.deepEqual(await store.get('a'), chat('a', { title: 'two' }));
      assert.equal(await store.delete('a'), true);
      assert.equal(await store.get('a'), undefined);
      assert.equal(await store.delete('a'), false);
    });

    test('empty values, any text and names of properties are kept as they are', async (context) => {
      const { store } = await open(context);
      const body = JSON.parse(
        `{"":"","empty":{},"list":[],"nothing":null,"zero":0,"text":"\\u0000 \\ud83d\\ude00 e\\u0301 \\u2028 \\ud800 '\\"--",
          "__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"number":1e-7}`,
      );
      await store.put(chat('a', body));
      const stored = await store.get('a');
      assert.deepEqual(stored, chat('a', body));
      assert.ok(Object.hasOwn(membersOf(stored?.body), '__proto__'));
      assert.equal(Reflect.get({}, 'polluted'), undefined);
    });

    test('ids between two go together, the first one with them and the last one not', async (context) => {
      const { store } = await open(context);
      for (const id of ['a', 'day 1', 'day 2', 'day 10', 'day é', 'Day 1', 'day_', 'dayz']) await store.put(chat(id));
      assert.equal(await store.deleteBetween('day ', 'day 2'), 2);
      assert.equal(await store.deleteBetween('day ', 'day 2'), 0);
      assert.equal(await store.deleteBetween('day 2', 'day é'), 1);
      for (const id of ['day 1', 'day 10', 'day 2']) assert.equal(await store.get(id), undefined);
      for (const id of ['a', 'day é', 'Day 1', 'day_', 'dayz']) assert.deepEqual(await store.get(id), chat(id));
    });

    test('five megabytes are one record', async (context) => {
      const { store } = await open(context);
      const items = Array.from({ length: 500 }, (_, index) => ({ role: 'user', content: `${index}é`.repeat(2_500) }));
      await store.put(chat('big', { items }));
      assert.deepEqual((await store.get('big'))?.body, { items });
    });

    test('no two ids share a record', async (context) => {
      const { store } = await open(context);
      await store.put(chat('victim', { mine: true }));
      const taken: string[] = [];
      for (const id of HOSTILE_IDS) if (await takes(() => store.put(chat(id, { only: id })))) taken.push(id);
      assert.ok(taken.length >= 60, `only ${taken.length} ids were taken`);
      for (const id of taken) assert.deepEqual((await store.get(id))?.body, { only: id }, JSON.stringify(id));
      for (const id of taken)
        await store.update(id, (present) => present && chat(id, { again: membersOf(present.body)['only'] }));
      for (const id of taken) {
        assert.deepEqual((await store.get(id))?.body, { again: id }, JSON.stringify(id));
        assert.equal(await store.delete(id), true, JSON.stringify(id));
      }
      assert.deepEqual(await store.get('victim'), chat('victim', { mine: true }));
    });

    test('an id that no database keeps as it is, is refused everywhere', async (context) => {
      const { store } = await open(context);
      for (const id of ['', 'a\0', '\udc00', 'x'.repeat(513)]) {
        await assertRefused(() => store.get(id), 'invalid_request');
        await assertRefused(() => store.put(chat(id)), 'invalid_request');
        await assertRefused(() => store.update(id, increment(id)), 'invalid_request');
        await assertRefused(() => store.delete(id), 'invalid_request');
      }
    });

    test('an update makes, changes or leaves a record, and returns what is stored then', async (context) => {
      const { store } = await open(context);
      assert.equal(await store.update('a', () => undefined), undefined);
      assert.equal(await store.get('a'), undefined);
      assert.deepEqual(await store.update('a', increment('a')), chat('a', {}, 1));
      assert.deepEqual(await store.update('a', increment('a')), chat('a', {}, 2));
      assert.deepEqual(await store.update('a', () => undefined), chat('a', {}, 2));
      assert.deepEqual(await store.get('a'), chat('a', {}, 2));
    });

    test('a record that goes only on a condition goes when that holds of what is stored then', async (context) => {
      const { store } = await open(context);
      assert.equal(await store.delete('a', () => true), false);
      await store.put(chat('a', {}, 1));
      assert.equal(await store.delete('a', ({ updated }) => updated === 2), false);
      assert.deepEqual(await store.get('a'), chat('a', {}, 1));
      // Whichever comes first: what was written then is not what it asked for.
      await Promise.all([store.delete('a', ({ updated }) => updated === 1), store.put(chat('a', {}, 2))]);
      assert.deepEqual(await store.get('a'), chat('a', {}, 2));
      await store.put(chat('a', {}, 3));
      assert.equal(await store.delete('a', ({ updated }) => updated === 3), true);
      assert.equal(await store.get('a'), undefined);
    });

    test('an update that throws, or would change the id, writes nothing and holds nobody up', async (context) => {
      const { store } = await open(context);
      await store.put(chat('a', {}, 1));
      const broken = () => {
        throw new Error('no');
      };
      await assert.rejects(store.update('a', broken), { message: 'no' });
      await assert.rejects(store.update('a', () => chat('b')));
      assert.deepEqual(await store.update('a', increment('a')), chat('a', {}, 2));
      assert.equal(await store.get('b'), undefined);
    });

    test('parallel updates lose nothing', async (context) => {
      const { store } = await open(context);
      const ids = Array.from({ length: 300 }, (_, index) => (index % 3 === 0 ? 'shared' : `own-${index % 5}`));
      await Promise.all(ids.map((id) => store.update(id, increment(id))));
      for (const id of new Set(ids)) {
        assert.equal((await store.get(id))?.updated, ids.filter((each) => each === id).length);
      }
    });

    test('parallel updates through two handles lose nothing', async (context) => {
      const { store, another } = await open(context);
      const other = await another();
      await Promise.all(Array.from({ length: 200 }, (_, n) => (n % 2 ? store : other).update('a', increment('a'))));
      assert.equal((await store.get('a'))?.updated, 200);
      assert.equal((await other.get('a'))?.updated, 200);
    });

    test('two handles that make the same record at once both count', async (context) => {
      const { store, another } = await open(context);
      const handles = [store, await another()];
      await Promise.all(handles.map((handle) => handle.get('nothing')));
      for (let n = 0; n < 50; n += 1) {
        await Promise.all(handles.map((handle) => handle.update(`new-${n}`, increment(`new-${n}`))));
        assert.equal((await store.get(`new-${n}`))?.updated, 2);
      }
    });

    test('parallel writes of one record leave one of them, whole', async (context) => {
      const { store } = await open(context);
      const bodies = Array.from({ length: 40 }, (_, n) => ({ first: n, filler: 'x'.repeat(10_000), last: n }));
      await Promise.all(bodies.map((body) => store.put(chat('a', body))));
      const { first, last } = membersOf((await store.get('a'))?.body);
      assert.equal(first, last);
    });

    test('what is handed out or in is no longer connected with what is stored', async (context) => {
      const { store } = await open(context);
      const body: Record<string, unknown> = { title: 'kept' };
      await store.put(chat('a', body));
      body['title'] = 'changed';
      Object.assign((await store.get('a'))?.body ?? {}, { title: 'changed too' });
      assert.deepEqual((await store.get('a'))?.body, { title: 'kept' });
    });

    test('everything is there when it is opened again', async (context) => {
      const { store, reopen } = await open(context);
      await Promise.all(Array.from({ length: 50 }, (_, n) => store.put(chat(`id-${n}`, { n }, n))));
      await store.delete('id-7');
      const again = await reopen();
      for (let n = 0; n < 50; n += 1) {
        assert.deepEqual(await again.get(`id-${n}`), n === 7 ? undefined : chat(`id-${n}`, { n }, n));
      }
    });
  });
}

/** What `Records` do beyond that with records that may be forgotten. */
export function expiringContract(name: string, open: Open<Records<CacheRecord>>): void {
  const future = Date.now() + 3_600_000;
  const past = Date.now() - 1;

  describe(`expiring records: ${name}`, () => {
    test('a record counts until it expires', async (context) => {
      const { store } = await open(context);
      await store.put({ id: 'new', expires: future, value: ['answer', null, 0] });
      await store.put({ id: 'old', expires: past, value: 'answer' });
      assert.deepEqual(await store.get('new'), { id: 'new', expires: future, value: ['answer', null, 0] });
      assert.equal(await store.get('old'), undefined);
      assert.equal(await store.delete('old', () => true), false);
      assert.equal(await store.delete('old'), false);
    });

    test('an update sees an expired record as absent, and can replace it', async (context) => {
      const { store } = await open(context);
      await store.put({ id: 'a', expires: past, value: 1 });
      assert.equal(await store.update('a', () => undefined), undefined);
      const stored = await store.update('a', (present) => ({ id: 'a', expires: future, value: present ?? 'none' }));
      assert.deepEqual(stored, { id: 'a', expires: future, value: 'none' });
      assert.deepEqual(await store.get('a'), stored);
    });

    test('what has expired by a time is forgotten when that is asked for, and nothing else', async (context) => {
      const { store, another } = await open(context);
      await store.put({ id: 'new', expires: future, value: 1 });
      await store.put({ id: 'old', expires: past, value: 1 });
      assert.equal(await (await another()).forgetExpired(past - 1), 0);
      assert.equal(await store.forgetExpired(past), 1);
      assert.equal(await store.forgetExpired(past), 0);
      assert.deepEqual(await store.get('new'), { id: 'new', expires: future, value: 1 });
      assert.equal(await store.forgetExpired(future), 1);
      assert.equal(await store.get('new'), undefined);
    });

    test('what would lapse lives on when that is asked for, and nothing else', async (context) => {
      const { store, another } = await open(context);
      const far = future + 3_600_000;
      for (const [id, expires] of [
        ['one', future],
        ["o'ther", future],
        ['fresh', future + 2],
        ['elsewhere', future],
        ['old', past],
      ] as const) {
        await store.put({ id, expires, value: id });
      }
      await (await another()).prolong(['one', "o'ther", 'fresh', 'old', 'nothing'], future + 1, far);
      await store.prolong([], far, far);
      assert.equal(await store.get('old'), undefined);
      assert.equal(await store.forgetExpired(future + 2), 3);
      for (const id of ['one', "o'ther"]) assert.equal((await store.get(id))?.value, id);
      assert.equal(await store.forgetExpired(far), 2);
    });

    test('what expired is forgotten, and nothing else', async (context) => {
      const { store } = await open(context);
      for (let n = 0; n < 200; n += 1) await store.put({ id: `old-${n}`, expires: past, value: n });
      await store.put({ id: 'new', expires: future, value: 1 });
      assert.equal((await store.get('new'))?.value, 1);
      assert.equal(await store.get('old-1'), undefined);
    });
  });
}
