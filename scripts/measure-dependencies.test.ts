import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { measure, type Packages, type Report, withFigures } from './measure-dependencies.ts';

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

/** The rows of docs/dependencies.md: name, version, licence and the three reasons. */
function documented(): readonly (readonly string[])[] {
  return [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \|(.*)\|$/gm)].map(([, name = '', rest = '']) => [
    name,
    ...rest.split('|').map((cell) => cell.trim()),
  ]);
}

describe('docs/dependencies.md', () => {
  const { dependencies, optionalDependencies } = JSON.parse(read('package.json'));
  const page = JSON.parse(read('web/package.json')).dependencies;
  const wanted: Readonly<Record<string, string>> = { ...dependencies, ...optionalDependencies, ...page };

  test('has one row for every production dependency, and no other', () => {
    const names = documented().map(([name]) => name);
    assert.deepEqual(names.toSorted(), Object.keys(wanted).toSorted());
  });

  test('names the versions and licences that are installed', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Packages };
    for (const [name = '', version, license] of documented()) {
      assert.equal(version, wanted[name], `${name}: run "npm run measure-dependencies -- --write"`);
      assert.equal(license, packages[`node_modules/${name}`]?.license, `the licence of ${name}`);
    }
  });

  test('says of each what it is for, when it is loaded and why it is there', () => {
    for (const row of documented()) {
      assert.equal(row.length, 8, `the row of ${row[0]}`);
      for (const cell of row.slice(3)) assert.notEqual(cell, '', `an empty cell of ${row[0]}`);
    }
  });
});

describe('measuring', () => {
  // a needs c and its own d; b needs c. The d at the top belongs to nobody but c.
  const packages: Packages = {
    '': {},
    'node_modules/a': { version: '1.0.0', license: 'MIT', dependencies: { c: '1', d: '2' } },
    'node_modules/a/node_modules/d': { version: '2.0.0' },
    'node_modules/b': { version: '1.0.0', license: 'ISC', optionalDependencies: { c: '1', missing: '1' } },
    'node_modules/c': { version: '1.0.0', dependencies: { d: '1', a: '1' } },
    'node_modules/d': { version: '1.0.0' },
    'node_modules/e': { version: '1.0.0', dependencies: { f: '1' } },
    'node_modules/f': { version: '1.0.0' },
    'node_modules/unrelated': { version: '1.0.0' },
  };
  const sizes: Readonly<Record<string, number>> = {
    'node_modules/a': 1_000_000,
    'node_modules/a/node_modules/d': 2_000_000,
    'node_modules/b': 4_000_000,
    'node_modules/c': 8_000_000,
    'node_modules/d': 16_000_000,
    'node_modules/e': 32_000_000,
    'node_modules/f': 64_000_000,
    'node_modules/unrelated': 128_000_000,
  };
  const report: Report = measure(packages, '', ['a', 'b', 'e'], (place) => sizes[place] ?? 0);

  test('counts as its own what nobody else needs, nested copies included', () => {
    const own = Object.fromEntries(
      report.rows.map((row) => [row.name, [row.own, row.alone].map((size) => size / 1e6)]),
    );
    // b reaches a through c, so that nothing goes with a.
    assert.deepEqual(own, { a: [1, 0], b: [4, 4], e: [32, 96] });
  });

  test('adds up to everything that is reached', () => {
    assert.equal(report.total, 127_000_000);
    assert.equal(report.shared, 27_000_000);
  });

  test('puts figures into rows and totals, and leaves the rest', () => {
    const text = '| `e` | – | – | – | – | For x | Start | Because |\n| other | – |\n<!-- total all -->?<!-- /total -->';
    assert.equal(
      withFigures(text, { all: report }),
      '| `e` | 1.0.0 | unknown | 32 MB | 96 MB | For x | Start | Because |\n| other | – |\n<!-- total all -->127 MB<!-- /total -->',
    );
  });
});
