import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { type Turn, Turns } from './turns.ts';

const MB = 1024 * 1024;

/** Asks for turns, and notes in which order they come. */
function asking(): { ask(name: string, size: number): void; readonly came: string[]; turn(name: string): Turn } {
  const turns = new Turns();
  const came = new Map<string, Turn>();
  return {
    ask: (name, size) => void turns.take(size).then((turn) => came.set(name, turn)),
    get came() {
      return [...came.keys()];
    },
    turn(name) {
      const turn = came.get(name);
      assert.ok(turn);
      return turn;
    },
  };
}

describe('turns', () => {
  test('leave no timer behind', async (context) => {
    const begun = context.mock.method(globalThis, 'setInterval');
    const ended = context.mock.method(globalThis, 'clearInterval');
    (await new Turns().take(MB)).end();
    assert.equal(begun.mock.callCount(), 1);
    assert.equal(ended.mock.calls[0]?.arguments[0], begun.mock.calls[0]?.result);
  });

  test('as many at a time as fit, in their order', async () => {
    const world = asking();
    for (const name of ['one', 'two', 'three']) world.ask(name, 5 * MB);
    // It would fit, and must not overtake.
    world.ask('small', 2 * MB);
    await immediate();
    assert.deepEqual(world.came, ['one', 'two']);
    world.turn('two').end();
    await immediate();
    assert.deepEqual(world.came, ['one', 'two', 'three', 'small']);
  });

  test('all that the budget has, and nothing more', async () => {
    const world = asking();
    for (const name of ['half', 'other half', 'none']) world.ask(name, 6 * MB);
    world.ask('last', 1);
    await immediate();
    assert.deepEqual(world.came, ['half', 'other half']);
    world.turn('half').end();
    // Ended once.
    world.turn('half').end();
    await immediate();
    assert.deepEqual(world.came, ['half', 'other half', 'none']);
    world.turn('other half').end();
    await immediate();
    assert.deepEqual(world.came, ['half', 'other half', 'none', 'last']);
  });

  test('alone for what is larger than all', async () => {
    const world = asking();
    world.ask('huge', 100 * MB);
    world.ask('small', 1);
    world.ask('huge too', 100 * MB);
    await immediate();
    assert.deepEqual(world.came, ['huge']);
    world.turn('huge').end();
    await immediate();
    assert.deepEqual(world.came, ['huge', 'small']);
    world.turn('small').end();
    await immediate();
    assert.deepEqual(world.came, ['huge', 'small', 'huge too']);
  });

  test('last while a body moves, at most for a second', async (context) => {
    context.after(() => mock.timers.reset());
    mock.timers.enable({ apis: ['setInterval'] });
    const world = asking();
    for (const name of ['silent', 'slow', 'fast', 'next']) world.ask(name, 20 * MB);
    await immediate();
    const pass = async (milliseconds: number, moved: () => void): Promise<void> => {
      for (let at = 0; at < milliseconds; at += 50) {
        moved();
        mock.timers.tick(50);
        await immediate();
      }
    };
    await pass(50, () => {});
    assert.deepEqual(world.came, ['silent'], 'one look says nothing');
    await pass(50, () => {});
    assert.deepEqual(world.came, ['silent', 'slow']);
    await pass(100, () => world.turn('slow').moved(64 * 1024 - 1));
    assert.deepEqual(world.came, ['silent', 'slow', 'fast']);
    // Half of its looks find nothing new.
    let looks = 0;
    await pass(950, () => {
      looks += 1;
      if (looks % 2 === 0) for (const _ of [1, 2]) world.turn('fast').moved(32 * 1024);
    });
    assert.deepEqual(world.came, ['silent', 'slow', 'fast']);
    await pass(50, () => world.turn('fast').moved(MB));
    assert.deepEqual(world.came, ['silent', 'slow', 'fast', 'next']);
  });
});
