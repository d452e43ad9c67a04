import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Roster, type Rostered } from './roster.ts';

interface Thing extends Rostered {
  readonly name: number;
}

function thing(name: number): Thing {
  return { name, place: -1 };
}

function namesIn(roster: Roster<Thing>): readonly number[] {
  const names: number[] = [];
  roster.each(({ name }) => names.push(name));
  return names.toSorted((one, other) => one - other);
}

describe('Roster', () => {
  test('holds what a Set would hold after any changes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(9))), (changes) => {
        const things = Array.from({ length: 10 }, (_, name) => thing(name));
        const roster = new Roster<Thing>();
        const expected = new Set<number>();
        for (const [adds, name] of changes) {
          const item = things[name] as Thing;
          if (!adds) assert.equal(roster.remove(item), expected.delete(name));
          else if (!expected.has(name)) {
            roster.add(item);
            expected.add(name);
          }
        }
        assert.equal(roster.size, expected.size);
        assert.deepEqual(
          namesIn(roster),
          [...expected].toSorted((one, other) => one - other),
        );
      }),
    );
  });

  test('leaves nobody out while others are removed and added', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 10 }), fc.nat(9), (removed, at) => {
        const things = Array.from({ length: 10 }, (_, name) => thing(name));
        const roster = new Roster<Thing>();
        for (const item of things) roster.add(item);
        const seen = new Set<number>();
        const gone = new Set<number>();
        let visits = 0;
        roster.each((item) => {
          assert.ok(!gone.has(item.name), 'removed before its turn');
          seen.add(item.name);
          visits += 1;
          if (visits !== at + 1) return;
          for (const name of removed) {
            roster.remove(things[name] as Thing);
            gone.add(name);
          }
          roster.add(thing(10));
        });
        for (const { name } of things) assert.ok(seen.has(name) || gone.has(name), `${name} was left out`);
      }),
    );
  });

  test('does not take away another of the same place', () => {
    const [one, other] = [new Roster<Thing>(), new Roster<Thing>()];
    const [first, second] = [thing(1), thing(2)];
    one.add(first);
    other.add(second);
    assert.equal(one.remove(second), false);
    assert.equal(one.size, 1);
  });
});
