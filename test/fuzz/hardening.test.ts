import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const text = readFileSync(new URL('docs/hardening.md', root), 'utf8');
const rows = text.split('\n').filter((line) => line.startsWith('| ') && !/^\| (Line|Limit) /.test(line));

/** All lines of the list of goals. */
const LINES = Object.entries({ F: 22, B: 17, S: 13, L: 7, D: 4, U: 2 }).flatMap(([letter, count]) =>
  Array.from({ length: count }, (_, index) => `${letter}-${index + 1}`),
);

describe('docs/hardening.md', () => {
  test('has every line once, in order', () => {
    const found = rows.flatMap((row) => /^\| ([A-Z]-\d+) \|/.exec(row)?.[1] ?? []);
    assert.deepEqual(found, LINES);
  });

  // A test that was never seen to fail may show nothing. The other tables are not that far yet.
  for (const row of rows.filter((each) => /^\| F-/.test(each) || !/^\| [A-Z]-\d/.test(each))) {
    const [name = '', ...cells] = row.slice(2, -2).split(' | ');
    test(`${name}: it says what was broken to see its tests fail`, () => {
      assert.equal(cells.length, 4, 'as many columns as the head has');
      assert.notEqual(cells.at(-1)?.trim(), '');
    });
  }

  for (const row of rows) {
    const name = row.split(' | ', 1)[0]?.slice(2) ?? '';
    test(`${name}: the tests that it names exist`, () => {
      const named = [...row.matchAll(/`([\w./-]+\.ts)`: “([^”]+)”/g)];
      if (named.length === 0) assert.match(row, /Not tested here/, 'a line without a test says so');
      for (const [, file = '', title = ''] of named) {
        const place = fileURLToPath(new URL(file, root));
        assert.ok(existsSync(place), file);
        assert.ok(readFileSync(place, 'utf8').includes(title), `${file} has no “${title}”`);
      }
    });
  }
});
