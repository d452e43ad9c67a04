import assert from 'node:assert/strict';
import { mkdirSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { DataFolder } from './data-folder.ts';

describe('a look into the data folder', () => {
  test('finds a damaged database', (context) => {
    const folder = temporaryFolder(context);
    const file = path.join(folder, 'sluice.db');
    const database = new DatabaseSync(file);
    database.exec('create table t (a text); create index i on t (a)');
    const insert = database.prepare('insert into t values (?)');
    for (let n = 0; n < 1_000; n += 1) insert.run(`row ${n} `.repeat(10));
    database.close();
    const data = new DataFolder(folder);
    assert.deepEqual(data.damage(), []);
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.alloc(8_192, 0xff), 0, 8_192, Math.floor(statSync(file).size / 8_192) * 4_096);
    assert.ok(data.damage().length > 0);
  });

  test('tells files that a bucket knows from those that none knows', (context) => {
    const folder = temporaryFolder(context);
    const database = new DatabaseSync(path.join(folder, 'sluice.db'));
    database.exec('create table records (kind text, body text)');
    const files = [{ path: 'buckets/b/known.png', thumbnail: 'buckets/b/small.webp' }, { path: 'buckets/b/text.md' }];
    database.prepare("insert into records values ('buckets', ?)").run(JSON.stringify({ id: 'b', files }));
    database.close();
    for (const name of ['buckets/b/known.png', 'buckets/b/small.webp', 'buckets/b/text.md', 'uploads/x', '.tmp/y']) {
      const file = path.join(folder, 'files', name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, 'x');
    }
    const data = new DataFolder(folder);
    assert.deepEqual(data.strays(), ['uploads/x']);
    assert.deepEqual(data.temporary(), ['y']);
  });
});
