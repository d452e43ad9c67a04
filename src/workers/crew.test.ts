import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { testLogger } from '../../test/support/call.ts';
import { eventually } from '../../test/support/eventually.ts';
import { Crew } from './crew.ts';
import type { Member } from './fleet.ts';

interface Fake {
  readonly name: string;
  state: Member['state'];
  /** The configuration with which it was started. */
  readonly config: number;
  serves(): void;
  fails(): void;
  /** It takes no new connection any more. */
  readonly left: PromiseWithResolvers<void>;
}

/** A crew whose workers serve, fail and crash when the test says so. */
function open(context: TestContext, wanted: number, areSlow = false) {
  const all: Fake[] = [];
  const log = testLogger();
  const reading: PromiseWithResolvers<void>[] = [];
  let config = 0;
  let last = 0;
  const crew = new Crew({
    fleet: {
      get all() {
        return all as unknown as readonly Member[];
      },
      retire: (member) => {
        const fake = member as unknown as Fake;
        fake.state = 'retiring';
        if (!areSlow) fake.left.resolve();
        return fake.left.promise;
      },
    },
    count: () => wanted,
    start: () => {
      const served = Promise.withResolvers<void>();
      last += 1;
      const fake: Fake = {
        name: `w${last}`,
        state: 'starting',
        config,
        left: Promise.withResolvers(),
        serves: () => {
          fake.state = 'serving';
          served.resolve();
        },
        fails: () => {
          all.splice(all.indexOf(fake), 1);
          served.reject(new Error('it could not'));
        },
      };
      all.push(fake);
      return served.promise;
    },
    reload: () => {
      const read = Promise.withResolvers<void>();
      reading.push(read);
      return read.promise.then(() => {
        config += 1;
      });
    },
    log,
  });
  context.after(() => crew.stop());
  const find = (name: string): Fake => all.find((each) => each.name === name) ?? assert.fail(`no ${name}`);
  return {
    crew,
    all,
    said: (words: RegExp) => log.lines.filter(({ message }) => words.test(message)).length,
    async serves(name: string) {
      find(name).serves();
      await turn();
    },
    async fails(name: string) {
      find(name).fails();
      await turn();
    },
    async leaves(name: string) {
      find(name).left.resolve();
      await turn();
    },
    crashes(name: string) {
      all.splice(all.indexOf(find(name)), 1);
      crew.crashed();
    },
    isReading: () => reading.length > 0,
    async read() {
      reading.shift()?.resolve();
      await turn();
    },
    /** Who is there: name and state. */
    seen: () => all.map(({ name, state }) => `${name} ${state}`).join(', '),
    starting: (name: string) => eventually(`${name} starts`, () => all.some((each) => each.name === name)),
  };
}

async function full(context: TestContext, wanted: number, areSlow = false) {
  const world = open(context, wanted, areSlow);
  world.crew.fill();
  for (let at = 1; at <= wanted; at += 1) await world.serves(`w${at}`);
  return world;
}

describe('as many workers as wanted', { timeout: 120_000 }, () => {
  test('a restart begins one after the other, and an old one goes when a new one serves', async (context) => {
    const { crew, serves, read, seen, said } = await full(context, 2);
    crew.restart();
    await read();
    assert.equal(seen(), 'w1 serving, w2 serving, w3 starting');
    await serves('w3');
    assert.equal(seen(), 'w1 retiring, w2 serving, w3 serving, w4 starting');
    await serves('w4');
    assert.equal(seen(), 'w1 retiring, w2 retiring, w3 serving, w4 serving');
    assert.equal(said(/all workers are new/), 1);
  });

  test('all are new once the old ones take no new connection, for which no other restart waits', async (context) => {
    const { crew, serves, leaves, read, said, seen } = await full(context, 2, true);
    crew.restart();
    await read();
    await serves('w3');
    await leaves('w1');
    await serves('w4');
    assert.equal(said(/all workers are new/), 0);
    crew.restart();
    await read();
    assert.equal(seen(), 'w1 retiring, w2 retiring, w3 serving, w4 serving, w5 starting');
    await leaves('w2');
    assert.equal(said(/all workers are new/), 1);
  });

  test('one that crashes in a restart is not replaced twice, whether it is old or new', async (context) => {
    const { crew, serves, crashes, read, starting, all } = await full(context, 2);
    crew.restart();
    await read();
    crashes('w2');
    await serves('w3');
    await starting('w4');
    crashes('w3');
    await serves('w4');
    await starting('w5');
    await serves('w5');
    const states = all.map(({ state, config }) => [state, config]);
    assert.deepEqual(
      states.filter(([state]) => state !== 'retiring'),
      [
        ['serving', 1],
        ['serving', 1],
      ],
    );
  });

  test('one that was being started when a restart began is old, whenever it serves', async (context) => {
    const { crew, serves, crashes, read, seen, said } = await full(context, 2);
    crashes('w1');
    assert.equal(seen(), 'w2 serving, w3 starting');
    crew.restart();
    await read();
    await serves('w4');
    await serves('w3');
    await serves('w5');
    assert.equal(seen(), 'w2 retiring, w3 retiring, w4 serving, w5 serving');
    assert.equal(said(/all workers are new/), 1);
  });

  test('one that starts to serve only after a restart, from before it, is retired', async (context) => {
    const { crew, serves, crashes, read, seen } = await full(context, 2);
    crashes('w1');
    crew.restart();
    await read();
    await serves('w4');
    await serves('w5');
    assert.equal(seen(), 'w2 retiring, w3 starting, w4 serving, w5 serving');
    await serves('w3');
    assert.equal(seen(), 'w2 retiring, w3 retiring, w4 serving, w5 serving');
  });

  test('a restart is possible while others of the first workers cannot be started', async (context) => {
    const { crew, serves, fails, read, starting, said, all } = open(context, 2);
    crew.fill();
    await serves('w1');
    await fails('w2');
    await starting('w3');
    await fails('w3');
    assert.equal(said(/could not be started/), 2);
    crew.restart();
    await read();
    for (let at = 0; at < 2; at += 1) {
      const isMended = ({ state, config }: (typeof all)[number]) => state === 'starting' && config === 1;
      const { name } = await eventually('one with the configuration that mends it', () => all.find(isMended));
      await serves(name);
    }
    const left = all.filter(({ state }) => state === 'serving').map(({ config }) => config);
    assert.deepEqual(left, [1, 1]);
    assert.equal(said(/all workers are new/), 1);
  });

  test('a new one that cannot start ends a restart while all others serve, and only then', async (context) => {
    const { crew, serves, fails, crashes, read, starting, seen, said } = await full(context, 2);
    crew.restart();
    await read();
    await fails('w3');
    assert.equal(said(/^the restart stopped, the other workers go on serving: it could not$/), 1);
    assert.equal(seen(), 'w1 serving, w2 serving');
    crew.restart();
    await read();
    crashes('w1');
    await fails('w4');
    assert.equal(said(/the restart stopped/), 1);
    await starting('w5');
    await serves('w5');
    await starting('w6');
    await serves('w6');
    assert.equal(seen(), 'w2 retiring, w5 serving, w6 serving');
  });

  test('a restart that is wished in the middle of one follows it', async (context) => {
    const { crew, serves, read, seen, said } = await full(context, 1);
    crew.restart();
    await read();
    crew.restart();
    await serves('w2');
    await read();
    assert.equal(seen(), 'w1 retiring, w2 serving, w3 starting');
    await serves('w3');
    assert.deepEqual([said(/all workers are new/), said(/once more after this time/)], [2, 1]);
  });

  test('one that cannot start is tried again after longer and longer rests, of ten seconds at most', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { crew, fails, seen } = open(context, 1);
    crew.fill();
    await fails('w1');
    assert.equal(seen(), 'w2 starting', 'once may be an accident');
    let at = 2;
    for (const rest of [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]) {
      await fails(`w${at}`);
      context.mock.timers.tick(rest - 1);
      assert.equal(seen(), '', `${rest} ms`);
      context.mock.timers.tick(1);
      at += 1;
      assert.equal(seen(), `w${at} starting`, `${rest} ms`);
    }
  });

  test('so it is with one that crashes', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { serves, crashes, seen } = await full(context, 1);
    crashes('w1');
    await serves('w2');
    crashes('w2');
    context.mock.timers.tick(199);
    assert.equal(seen(), '');
    context.mock.timers.tick(1);
    assert.equal(seen(), 'w3 starting');
  });

  test('what fails in a rest is the same trouble', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { crew, fails, seen } = open(context, 3);
    crew.fill();
    for (const name of ['w1', 'w2', 'w3', 'w4']) await fails(name);
    assert.equal(seen(), '');
    context.mock.timers.tick(200);
    assert.equal(seen(), 'w5 starting, w6 starting, w7 starting');
    for (const name of ['w5', 'w6', 'w7']) await fails(name);
    context.mock.timers.tick(399);
    assert.equal(seen(), '');
    context.mock.timers.tick(1);
    assert.equal(seen(), 'w8 starting, w9 starting, w10 starting');
  });

  test('a restart does not wait for the end of a rest', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { crew, fails, read, seen } = open(context, 1);
    crew.fill();
    await fails('w1');
    await fails('w2');
    assert.equal(seen(), '');
    crew.restart();
    await read();
    assert.equal(seen(), 'w3 starting');
  });

  test('nobody is started any more once all shall end', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { crew, fails, crashes, seen, said, isReading } = await full(context, 2);
    crashes('w1');
    assert.equal(seen(), 'w2 serving, w3 starting');
    crew.stop();
    await fails('w3');
    crashes('w2');
    crew.restart();
    crew.fill();
    context.mock.timers.tick(60_000);
    assert.deepEqual([seen(), isReading(), said(/could not be started/)], ['', false, 0]);

    const resting = await full(context, 2);
    resting.crashes('w1');
    resting.crashes('w2');
    assert.equal(resting.seen(), 'w3 starting');
    resting.crew.stop();
    await resting.serves('w3');
    context.mock.timers.tick(60_000);
    assert.equal(resting.seen(), 'w3 serving');
  });
});
