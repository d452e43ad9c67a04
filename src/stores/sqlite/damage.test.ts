import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../test/support/config-folder.ts';
import { findDamage } from './damage.ts';

function database(context: TestContext) {
  // Hooks run in this order, and the folder must not go before the file is closed.
  context.after(() => {
    if (made.isOpen) made.close();
  });
  const file = path.join(temporaryFolder(context), 'a.db');
  const made = new DatabaseSync(file);
  made.exec('create table t (a)');
  return { file, made };
}

describe('looking for damage', () => {
  test('a sound file has none, and is not written', (context) => {
    const { file, made } = database(context);
    made.close();
    const before = readFileSync(file);
    assert.deepEqual(findDamage(file), []);
    assert.ok(readFileSync(file).equals(before));
  });

  test('what is no database is damaged', (context) => {
    const { file, made } = database(context);
    made.close();
    writeFileSync(file, 'something else '.repeat(1_000));
    assert.match(findDamage(file).join(), /not a database/);
  });

  test('one that cannot be read just now is not called damaged', (context) => {
    const { file, made } = database(context);
    made.exec('begin exclusive');
    assert.throws(() => findDamage(file), /locked/);
  });
});
