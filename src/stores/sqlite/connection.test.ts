import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { type Statement, sql } from '../sql/sql.ts';
import { Connection } from './connection.ts';

function openConnection(context: TestContext): { readonly connection: Connection; readonly file: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-'));
  const file = path.join(folder, 'sluice.db');
  const connection = new Connection(file);
  context.after(() => {
    connection.close();
    rmSync(folder, { recursive: true });
  });
  return { connection, file };
}

test('a connection waits for others that use the file, also once it has emptied its log', (context) => {
  const { connection } = openConnection(context);
  const ask = (statement: Statement): unknown => {
    const [answer] = connection.answer([{ id: 1, writes: false, statements: [statement] }]);
    assert.ok(answer !== undefined && 'results' in answer);
    return answer.results[0]?.rows[0]?.['timeout'];
  };
  const patience = ask(sql`pragma busy_timeout`);
  assert.ok(Number(patience) >= 1_000, `${patience} ms`);
  connection.emptyLog();
  assert.equal(ask(sql`pragma busy_timeout`), patience);
});

test('what it does by itself waits for nobody: requests would have to wait behind it', (context) => {
  const { connection } = openConnection(context);
  const { prepare, exec } = DatabaseSync.prototype;
  const patience: unknown[] = [];
  const look = (database: DatabaseSync, text: string): void => {
    if (!/wal_checkpoint|'probe'/.test(text)) return;
    patience.push(prepare.call(database, 'pragma busy_timeout').get()?.['timeout']);
  };
  context.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, text: string) {
    look(this, text);
    return prepare.call(this, text);
  });
  context.mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, text: string) {
    look(this, text);
    exec.call(this, text);
  });
  connection.emptyLog();
  connection.probe();
  assert.deepEqual(patience, [0, 0]);
});

test('nobody else writes between what a group reads and what it writes: it would be refused for that', (context) => {
  const { connection, file } = openConnection(context);
  const insert = (id: string): Statement =>
    sql`insert into records (kind, id, version, body) values (${'chats'}, ${id}, ${'1'}, ${'{}'})`;
  const other = new DatabaseSync(file, { timeout: 0 });
  context.after(() => other.close());
  const { prepare } = DatabaseSync.prototype;
  let tried = 0;
  const preparing = context.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, text: string) {
    if (this !== other && text.startsWith('insert')) {
      tried += 1;
      assert.throws(() => other.exec("delete from records where id = 'b'"), /locked/);
    }
    return prepare.call(this, text);
  });
  const answers = connection.answer([
    { id: 1, writes: false, statements: [sql`select * from records`] },
    { id: 2, writes: true, statements: [insert('a')] },
  ]);
  preparing.mock.restore();
  assert.equal(tried, 1);
  assert.ok(
    answers.every((answer) => 'results' in answer),
    JSON.stringify(answers),
  );
});
