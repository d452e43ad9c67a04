import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { Gate } from './gate.ts';

/** Works that last until they are told to end, and the order in which they began. */
function works(gate: Gate) {
  const began: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  return {
    began,
    run(name: string, signal?: AbortSignal): Promise<string> {
      const end = Promise.withResolvers<string>();
      ends.set(name, end);
      return gate.run(() => {
        began.push(name);
        return end.promise;
      }, signal);
    },
    async end(name: string): Promise<void> {
      ends.get(name)?.resolve(`${name} is done`);
      await immediate();
    },
    async fail(name: string): Promise<void> {
      ends.get(name)?.reject(new Error(`${name} failed`));
      await immediate();
    },
  };
}

describe('a gate', () => {
  test('lets so many through, and the next as one ends, in their order', async () => {
    const { began, run, end, fail } = works(new Gate(2));
    const all = ['a', 'b', 'c', 'd'].map((name) => run(name));
    const failed = assert.rejects(Promise.resolve(all[1]), /b failed/);
    await immediate();
    assert.deepEqual(began, ['a', 'b']);
    await fail('b');
    await failed;
    assert.deepEqual(began, ['a', 'b', 'c']);
    await end('a');
    assert.deepEqual(began, ['a', 'b', 'c', 'd']);
    await end('c');
    await end('d');
    assert.deepEqual(await Promise.all([all[0], all[2], all[3]]), ['a is done', 'c is done', 'd is done']);
    // Both places are free again, and no more.
    for (const name of ['e', 'f', 'g']) void run(name);
    await immediate();
    assert.deepEqual(began.slice(4), ['e', 'f']);
  });

  test('does not wait for whoever has left, and does not begin for them', async () => {
    const { began, run, end } = works(new Gate(1));
    const leaving = new AbortController();
    void run('a');
    const first = run('first');
    const left = run('left', leaving.signal);
    const last = run('last');
    leaving.abort(new Error('gone'));
    await assert.rejects(left, /gone/);
    await assert.rejects(run('late', leaving.signal), /gone/);
    await end('a');
    assert.deepEqual(began, ['a', 'first']);
    await end('first');
    assert.deepEqual(began, ['a', 'first', 'last']);
    await end('last');
    assert.deepEqual(await Promise.all([first, last]), ['first is done', 'last is done']);
  });

  test('leaves it to the work what it does when its turn has come', async () => {
    const { began, run, end } = works(new Gate(1));
    const leaving = new AbortController();
    void run('a');
    const turned = run('b', leaving.signal);
    const next = run('c');
    await end('a');
    leaving.abort(new Error('gone'));
    await immediate();
    assert.deepEqual(began, ['a', 'b'], 'the place is taken until it ends');
    await end('b');
    assert.equal(await turned, 'b is done');
    await end('c');
    assert.equal(await next, 'c is done');
  });
});
