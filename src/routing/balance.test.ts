import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Provider } from '../core/provider.ts';
import { balance, KeyTurns, Sessions } from './balance.ts';
import { Health } from './health.ts';
import type { Target } from './select.ts';

const target = (id: string, more: Partial<Target> & { keys?: readonly string[] } = {}): Target => {
  const { keys, ...rest } = more;
  const provider = { id, label: id, origin: 'file', auth: { kind: 'none' }, models: async () => [] } as const;
  return {
    provider: { ...provider, ...(keys === undefined ? {} : { keys: () => keys }) } satisfies Provider,
    model: 'm',
    ...rest,
  };
};
const ids = (targets: readonly Target[]): string[] => targets.map(({ provider }) => provider.id);

describe('balance', () => {
  test('order leaves things as they are', () => {
    const targets = [target('a', { weight: 1 }), target('b', { weight: 100 })];
    assert.equal(balance(targets, 'order', new Health()), targets);
  });

  test('weighted: each comes first as often as its share says, and nobody is lost', () => {
    let seed = 7;
    // A small generator of our own (Park and Miller), so that the test always draws the same.
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const targets = [target('a', { weight: 3 }), target('b'), target('never', { weight: 0 })];
    const firsts = new Map<string, number>();
    for (let round = 0; round < 8_000; round += 1) {
      const drawn = ids(balance(targets, 'weighted', new Health(), random));
      assert.deepEqual(drawn.toSorted(), ['a', 'b', 'never']);
      assert.equal(drawn[2], 'never');
      firsts.set(drawn[0] ?? '', (firsts.get(drawn[0] ?? '') ?? 0) + 1);
    }
    const share = (firsts.get('a') ?? 0) / 8_000;
    assert.ok(share > 0.72 && share < 0.78, `a came first in ${share} of the draws, not in 3/4`);
  });

  test('latency: the unknown first, then whoever begins soonest', () => {
    const health = new Health();
    const [slow, fast, fresh] = [target('slow'), target('fast'), target('fresh')];
    health.answered(slow, 900);
    health.answered(fast, 100);
    assert.deepEqual(ids(balance([slow, fast, fresh], 'latency', health)), ['fresh', 'fast', 'slow']);
    for (let count = 0; count < 50; count += 1) health.answered(fast, 5_000);
    assert.deepEqual(ids(balance([fast, slow], 'latency', health)), ['slow', 'fast']);
  });

  test('any choice gives back what it got', () => {
    const anyTargets = fc.array(fc.record({ id: fc.string(), weight: fc.double({ min: 0, max: 1e6, noNaN: true }) }));
    fc.assert(
      fc.property(anyTargets, fc.constantFrom('weighted' as const, 'latency' as const), (entries, choice) => {
        const targets = entries.map(({ id, weight }) => target(id, { weight }));
        const arranged = balance(targets, choice, new Health());
        assert.deepEqual(new Set(arranged), new Set(targets));
        assert.equal(arranged.length, targets.length);
      }),
    );
  });
});

describe('Sessions', () => {
  test('keep their target while it is there', () => {
    const sessions = new Sessions();
    const [a, b, c] = [target('a'), target('b'), target('c')];
    assert.deepEqual(ids(sessions.prefer('s', [a, b, c])), ['a', 'b', 'c']);
    sessions.remember('s', c);
    assert.deepEqual(ids(sessions.prefer('s', [a, b, c])), ['c', 'a', 'b']);
    assert.deepEqual(ids(sessions.prefer('s', [a, b])), ['a', 'b']);
    assert.deepEqual(ids(sessions.prefer('another', [a, b, c])), ['a', 'b', 'c']);
  });
});

describe('KeyTurns', () => {
  test('every key gets its turn, the others of the same target follow before the next target', () => {
    const turns = new KeyTurns();
    const [a, b] = [target('a', { keys: ['1', '2', '3'] }), target('b')];
    const next = () => turns.expand([a, b], () => false).map(({ provider, key }) => `${provider.id}${key ?? ''}`);
    assert.deepEqual(next(), ['a0', 'a1', 'a2', 'b']);
    assert.deepEqual(next(), ['a1', 'a2', 'a0', 'b']);
    assert.deepEqual(next(), ['a2', 'a0', 'a1', 'b']);
    assert.deepEqual(next(), ['a0', 'a1', 'a2', 'b']);
  });

  test('whoever has a key already keeps it', () => {
    const own = target('a', { keys: ['1', '2'], key: 1 });
    assert.deepEqual(
      new KeyTurns().expand([own], () => false),
      [own],
    );
  });

  test("a client's own key takes no part", () => {
    const expanded = new KeyTurns().expand([target('a', { keys: ['1', '2'] })], () => true);
    assert.deepEqual(expanded, [expanded[0]]);
    assert.equal(expanded[0]?.key, undefined);
  });
});
