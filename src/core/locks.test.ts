import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Locks } from './locks.ts';

test('tasks of one name run one after the other, others meanwhile, and none is remembered', async () => {
  const locks = new Locks();
  const events: string[] = [];
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const run = (name: string, what: string, until?: Promise<void>): Promise<string> =>
    locks.run(name, async () => {
      events.push(`${what} begins`);
      await until;
      events.push(`${what} ends`);
      return what;
    });
  const ends = [run('a', 'one', first.promise), run('a', 'two', second.promise), run('b', 'other')];
  assert.equal(await ends[2], 'other');
  first.resolve();
  assert.equal(await ends[0], 'one');
  // One that comes now waits for the second, although the first has gone.
  ends.push(run('a', 'three'));
  second.resolve();
  assert.deepEqual(await Promise.all(ends), ['one', 'two', 'other', 'three']);
  const [oneBegins, otherBegins, otherEnds, ...rest] = events;
  assert.deepEqual([oneBegins, otherBegins, otherEnds], ['one begins', 'other begins', 'other ends']);
  assert.deepEqual(rest, ['one ends', 'two begins', 'two ends', 'three begins', 'three ends']);
  assert.equal(locks.size, 0);
});

test('a task that fails holds nobody up', async () => {
  const locks = new Locks();
  const failing = locks.run('a', () => Promise.reject(new Error('no')));
  const next = locks.run('a', async () => 'next');
  await assert.rejects(failing, { message: 'no' });
  assert.equal(await next, 'next');
  assert.equal(locks.size, 0);
});
