import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { collectAtRest } from './settle.ts';

const MINUTE_MS = 60_000;
const MIB = 2 ** 20;

/** A process whose time passes by hand; `collections` counts, and each leaves 160 MiB. */
function watched(context: TestContext) {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const state = { cpuMs: 0, residentBytes: 100 * MIB, collections: 0 };
  collectAtRest(
    () => {
      state.collections += 1;
      state.residentBytes = 160 * MIB;
      state.cpuMs += 100;
    },
    () => ({ ...state }),
  );
  const minutes = (count: number, cpuMs: number): void => {
    for (let minute = 0; minute < count; minute += 1) {
      state.cpuMs += cpuMs;
      context.mock.timers.tick(MINUTE_MS);
    }
  };
  return { state, minutes };
}

describe('a process at rest', () => {
  test('gives back once what a burst has taken', (context) => {
    const { state, minutes } = watched(context);
    state.residentBytes = 240 * MIB;
    minutes(1, 30_000);
    minutes(4, 50);
    assert.equal(state.collections, 0);
    minutes(1, 50);
    assert.equal(state.collections, 1);
    minutes(60, 50);
    assert.equal(state.collections, 1);
  });

  test('does so again after the next burst', (context) => {
    const { state, minutes } = watched(context);
    for (const burst of [1, 2]) {
      state.residentBytes = 240 * MIB;
      minutes(1, 30_000);
      minutes(5, 50);
      assert.equal(state.collections, burst);
    }
  });

  test('is left alone while it works, be it little', (context) => {
    const { state, minutes } = watched(context);
    state.residentBytes = 240 * MIB;
    for (let hour = 0; hour < 3; hour += 1) {
      minutes(4, 50);
      minutes(1, 1_000);
    }
    assert.equal(state.collections, 0);
  });

  test('is left alone when it has taken next to nothing', (context) => {
    const { state, minutes } = watched(context);
    state.residentBytes = 130 * MIB;
    minutes(60, 50);
    assert.equal(state.collections, 0);
  });
});
