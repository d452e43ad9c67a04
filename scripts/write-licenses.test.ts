import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { licensesText } from './write-licenses.ts';

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

test('LICENSES.md lists what the lock file installs', () => {
  assert.equal(read('LICENSES.md'), licensesText(JSON.parse(read('package-lock.json'))), 'run "npm run licenses"');
});

test('a licence that is not permissive is an error that names the package', () => {
  const packages = { 'node_modules/viral': { version: '1.0.0', license: 'GPL-3.0-only' } };
  assert.throws(() => licensesText({ packages }), /viral@1\.0\.0 has the licence 'GPL-3\.0-only'/);
});
