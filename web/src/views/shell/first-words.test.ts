import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';

/** What the page's own names are replaced with. */
const NAMES = ['document', 'addEventListener', 'PerformanceObserver'] as const;

type Painted = (list: { getEntriesByName(): readonly object[] }) => void;

let page: EventTarget & { visibilityState: string };
let paint: () => void;
let rounds = 0;

/** Whether the first words have been waited for by now. */
async function begin(): Promise<() => Promise<boolean>> {
  rounds += 1;
  // A page of its own each time.
  const { firstWords } = (await import(`./first-words.ts?${rounds}`)) as typeof import('./first-words.ts');
  let isOver = false;
  void firstWords().then(() => {
    isOver = true;
  });
  return async () => {
    await Promise.resolve();
    await Promise.resolve();
    return isOver;
  };
}

describe('what waits for the first words', () => {
  const before = NAMES.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    class Observer {
      constructor(painted: Painted) {
        paint = () => painted({ getEntriesByName: () => [{}] });
      }
      observe(): void {}
    }
    const values = [page, page.addEventListener.bind(page), Observer];
    for (const [index, name] of NAMES.entries()) {
      Object.defineProperty(globalThis, name, { value: values[index], configurable: true, writable: true });
    }
  });
  afterEach(() => {
    mock.timers.reset();
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, descriptor);
    }
  });

  test('waits until they are painted, however long a slow machine takes', async () => {
    const isOver = await begin();
    mock.timers.tick(3_600_000);
    assert.equal(await isOver(), false);
    paint();
    assert.equal(await isOver(), true);
  });

  test('waits no longer where nobody looks, from the beginning or later', async () => {
    const isOver = await begin();
    page.visibilityState = 'hidden';
    assert.equal(await isOver(), false);
    page.dispatchEvent(new Event('visibilitychange'));
    assert.equal(await isOver(), true);
    assert.equal(await (await begin())(), true);
  });

  for (const use of ['pointerdown', 'keydown']) {
    test(`waits no longer than until somebody uses the page: ${use}`, async () => {
      const isOver = await begin();
      assert.equal(await isOver(), false);
      page.dispatchEvent(new Event(use));
      assert.equal(await isOver(), true);
    });
  }
});
