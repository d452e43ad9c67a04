import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LogStore } from '../../src/core/stores.ts';
import { assertRefused } from './assertions.ts';
import type { Open } from './worlds.ts';

const KEPT = 10_000;

/** What every implementation of `LogStore` does. */
export function logContract(name: string, open: Open<LogStore>): void {
  describe(`log: ${name}`, () => {
    test('entries come back whole, the newest first, as many as asked for', async (context) => {
      const { store } = await open(context);
      assert.deepEqual(await store.newest(10), []);
      const body = JSON.parse('{"error":"x","__proto__":{"polluted":true},"text":"\\u0000 \\ud83d\\ude00 \\ud800"}');
      await store.add({ id: 'b', time: 2, body });
      await store.add({ id: 'c', time: 3, body: {} });
      await store.add({ id: 'a', time: 1, body: {} });
      await store.add({ id: 'c2', time: 3, body: { n: 1 } });
      const expected = [
        { id: 'c2', time: 3, body: { n: 1 } },
        { id: 'c', time: 3, body: {} },
        { id: 'b', time: 2, body },
        { id: 'a', time: 1, body: {} },
      ];
      assert.deepEqual(await store.newest(10), expected);
      assert.deepEqual(await store.newest(2), expected.slice(0, 2));
      assert.equal(Reflect.get({}, 'polluted'), undefined);
    });

    test('an entry is logged once', async (context) => {
      const { store } = await open(context);
      await store.add({ id: 'a', time: 1, body: { n: 1 } });
      await store.add({ id: 'a', time: 2, body: { n: 2 } });
      assert.deepEqual(await store.newest(10), [{ id: 'a', time: 1, body: { n: 1 } }]);
    });

    test('an entry has a limit, in bytes', async (context) => {
      const { store } = await open(context);
      await store.add({ id: 'fits', time: 1, body: { text: 'x'.repeat(65_000) } });
      await assertRefused(() => store.add({ id: 'a', time: 1, body: { text: 'x'.repeat(65_536) } }), 'too_large');
      await assertRefused(() => store.add({ id: 'b', time: 1, body: { text: 'é'.repeat(33_000) } }), 'too_large');
      assert.deepEqual(
        (await store.newest(10)).map(({ id }) => id),
        ['fits'],
      );
    });

    test('the oldest entries make room', async (context) => {
      const { store } = await open(context);
      const entries = Array.from({ length: KEPT + 50 }, (_, n) => ({ id: `${n}`, time: n, body: {} }));
      // What is added at once may come in any order.
      for (const some of [entries.slice(0, 50), entries.slice(50)])
        await Promise.all(some.map((entry) => store.add(entry)));
      const kept = await store.newest(KEPT * 2);
      assert.equal(kept.length, KEPT);
      assert.equal(kept[0]?.id, `${KEPT + 49}`);
      assert.equal(kept.at(-1)?.id, '50');
    });

    test('everything is there when it is opened again', async (context) => {
      const { store, reopen } = await open(context);
      await store.add({ id: 'a', time: 1, body: { n: 1 } });
      assert.deepEqual(await (await reopen()).newest(10), [{ id: 'a', time: 1, body: { n: 1 } }]);
    });
  });
}
