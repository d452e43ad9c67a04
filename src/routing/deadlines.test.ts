import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import { Deadlines } from './deadlines.ts';

const until = (isExpired: () => boolean) => eventually('it expires', isExpired);

/** Time that passes only when a test says so, with one look at the deadlines. */
function byHand(context: TestContext): (milliseconds: number) => void {
  context.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  return (milliseconds) => {
    now += milliseconds;
    context.mock.timers.tick(100);
  };
}

describe('Deadlines', () => {
  test('expire once, when nobody touches them', async () => {
    const deadlines = new Deadlines();
    let expired = 0;
    deadlines.start(50, () => {
      expired += 1;
    });
    await until(() => expired > 0);
    await sleep(250);
    assert.equal(expired, 1);
  });

  test('do not expire while they are touched, cleared or endless', (context) => {
    const pass = byHand(context);
    const deadlines = new Deadlines();
    const expired: string[] = [];
    const touched = deadlines.start(400, () => expired.push('touched'));
    const cleared = deadlines.start(50, () => expired.push('cleared'));
    const endless = deadlines.start(50, () => expired.push('endless'));
    const last = deadlines.start(50, () => expired.push('last'));
    cleared.clear();
    endless.set(Number.POSITIVE_INFINITY);
    for (let round = 0; round < 10; round += 1) {
      pass(80);
      touched.touch();
    }
    assert.deepEqual(expired, ['last']);
    endless.set(10);
    pass(400);
    assert.deepEqual(expired.toSorted(), ['endless', 'last', 'touched']);
    last.clear();
  });

  test('are not early', async () => {
    const deadlines = new Deadlines();
    for (const length of [120, 230]) {
      const began = performance.now();
      let took = 0;
      deadlines.start(length, () => {
        took = performance.now() - began;
      });
      await until(() => took > 0);
      assert.ok(took >= length - 1, `${took} of ${length} ms`);
    }
  });

  test('one that begins inside of another ones end is served, too', async () => {
    const deadlines = new Deadlines();
    let second = false;
    deadlines.start(20, () => {
      deadlines.start(20, () => {
        second = true;
      });
    });
    await until(() => second);
    assert.ok(second);
  });

  test('are counted from now on, also after a time in which there was none', (context) => {
    const pass = byHand(context);
    const deadlines = new Deadlines();
    let expired = 0;
    const start = () => deadlines.start(1_000, () => (expired += 1));
    start();
    pass(1_000);
    assert.equal(expired, 1);
    // Without deadlines the timer ends.
    for (let ticks = 0; ticks < 20; ticks += 1) pass(100);
    pass(3_600_000);
    start().touch();
    const prolonged = start();
    pass(900);
    prolonged.set(1_000);
    assert.equal(expired, 1);
    pass(900);
    assert.equal(expired, 2);
    pass(100);
    assert.equal(expired, 3);
  });

  test('are looked at by one timer, which ends when there are none for a while', (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] });
    const begun = context.mock.method(globalThis, 'setInterval');
    const ended = context.mock.method(globalThis, 'clearInterval');
    const deadlines = new Deadlines();
    for (let round = 1; round <= 2; round += 1) {
      const open = [deadlines.start(60_000, () => {}), deadlines.start(60_000, () => {})];
      context.mock.timers.tick(2_000);
      assert.deepEqual([begun.mock.callCount(), ended.mock.callCount()], [round, round - 1]);
      for (const each of open) each.clear();
      context.mock.timers.tick(2_000);
      assert.deepEqual([begun.mock.callCount(), ended.mock.callCount()], [round, round]);
    }
  });

  test('a process is not kept alive by them', () => {
    const script = `import { Deadlines } from ${JSON.stringify(new URL('./deadlines.ts', import.meta.url))};
      new Deadlines().start(600_000, () => {});
      process.on('exit', () => console.log('ended'));`;
    const words = ['--input-type=module', '--eval', script];
    const { stdout, status } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 60_000, env: {} });
    assert.deepEqual([stdout, status], ['ended\n', 0]);
  });
});
