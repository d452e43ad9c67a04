import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fillIn, interpolate } from '../../src/config/interpolate.ts';
import { property } from './cases.ts';
import { anything } from './schema-values.ts';

function ref(name: string): string {
  return `\${${name}}`;
}

/** Where names stand that no map has, from the top. */
function forbidden(tree: unknown, path: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] {
  if (typeof tree !== 'object' || tree === null) return [];
  return Object.entries(tree).flatMap(([key, member]) => {
    const place = [...path, Array.isArray(tree) ? Number(key) : key];
    return key === '__proto__' ? [place] : forbidden(member, place);
  });
}

describe('configuration', () => {
  test('a variable that has the name of something else of an object is not set', () => {
    const problems: string[] = [];
    for (const name of ['toString', 'constructor', '__proto__'])
      fillIn(ref(name), {}, (problem) => problems.push(problem));
    assert.equal(problems.length, 3);
    for (const problem of problems) assert.match(problem, /is not set/);
  });

  test('variables are filled in once, and nothing else is touched', async () => {
    await property(1_000, (random) => {
      const environment = { A: random.text(3), B: ref('A'), EMPTY: '' };
      const text = random
        .many(random.below(6), () =>
          random.pick([
            ref('A'),
            ref('B'),
            ref('C'),
            ref('EMPTY'),
            '$'.concat('{'),
            '}',
            ref('a b'),
            '$A',
            random.text(2),
          ]),
        )
        .join('');
      const problems: string[] = [];
      const filled = fillIn(text, environment, (problem) => problems.push(problem));
      if (!/\$\{/.test(text)) assert.equal(filled, text);
      for (const problem of problems) assert.notEqual(problem, '');
      const tree = JSON.parse(JSON.stringify(anything(random)).replaceAll('$', ''));
      const { unresolved } = interpolate(tree, environment);
      assert.deepEqual(
        unresolved.map(({ path }) => path),
        forbidden(tree),
      );
    });
  });
});
