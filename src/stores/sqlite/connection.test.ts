import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Connection } from './connection.ts';
import { type Statement, sql } from './sql.ts';

test('a connection waits for others that use the file, also once it has emptied its log', (context) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const connection = new Connection(path.join(folder, 'sluice.db'));
  context.after(() => connection.close());
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
