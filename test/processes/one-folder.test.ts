import assert from 'node:assert/strict';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { databaseOf } from '../../src/stores/index.ts';
import { isFolderInUse } from '../../src/stores/sqlite/only-one.ts';
import { temporaryFolder } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { unusedPort } from '../support/plain-server.ts';
import { type Running, runSluice, startSluice } from '../support/run-sluice.ts';

const WARNING = /another Sluice uses this data folder, too/;

/** A Sluice whose storage is open: by then it has looked who else uses it. */
async function start(context: TestContext, folder: string, ...words: string[]): Promise<Running & { origin: string }> {
  const running = startSluice(context, ['--bind', '127.0.0.1:0', ...words], { folder });
  const [, origin = ''] = await running.said(/Page +(http:\/\/[^/\s]+)\//);
  await eventually('it is ready', async () => (await fetch(`${origin}/ready`)).ok);
  return { ...running, origin };
}

function withSettings(context: TestContext): string {
  const folder = temporaryFolder(context);
  writeFileSync(path.join(folder, 'sluice.yaml'), 'detectLocal: false\nembedded: { enabled: false }\n');
  return folder;
}

async function end({ process }: Running): Promise<void> {
  process.kill('SIGKILL');
  await once(process, 'exit');
}

test('a second Sluice on a data folder says so, and so does sluice doctor', { timeout: 120_000 }, async (context) => {
  const folder = withSettings(context);
  const doctor = async (): Promise<string> =>
    (await runSluice(context, ['doctor', '--bind', `127.0.0.1:${await unusedPort()}`], { folder })).stdout;

  // Several workers are one Sluice.
  const first = await start(context, folder, '--workers', '2');
  assert.match(await doctor(), /! a running Sluice uses this data folder\n +→ for a second one choose another folder/);
  const second = await start(context, folder);
  await second.said(WARNING);

  for (const each of [first, second]) await end(each);
  assert.doesNotMatch((await first.ended).stderr, WARNING);
  assert.doesNotMatch(await doctor(), /uses this data folder/);
  const third = await start(context, folder);
  third.process.kill('SIGTERM');
  assert.doesNotMatch((await third.ended).stderr, WARNING);
});

test('once the first has ended, a third one hears of the second', { timeout: 120_000 }, async (context) => {
  const folder = withSettings(context);
  const first = await start(context, folder);
  const second = await start(context, folder);
  await second.said(WARNING);

  await end(first);
  await eventually('the second one has the folder', async () => {
    const kept = await fetch(`${second.origin}/v1/conversations`, { method: 'POST' });
    assert.equal(kept.status, 200);
    return isFolderInUse(databaseOf(folder));
  });
  const third = await start(context, folder);
  await third.said(WARNING);
});

test('a folder is one, by whatever path it is named', { timeout: 120_000 }, async (context) => {
  const folder = withSettings(context);
  const link = path.join(temporaryFolder(context), 'link');
  symlinkSync(folder, link, 'junction');
  const first = await start(context, folder);
  for (const name of [link, path.join('..', path.basename(folder)), `${folder}/./`]) {
    const other = await start(context, folder, '--data-dir', name);
    await other.said(WARNING);
    await end(other);
  }
  await end(first);
});

test('a copy that SQLite makes meanwhile has all that was kept, at any other path', {
  timeout: 120_000,
}, async (context) => {
  const folder = withSettings(context);
  const running = await start(context, folder);
  const kept = { items: [{ role: 'user', content: 'I like the sea.' }] };
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(kept);
  const answer = await fetch(`${running.origin}/backend-api/v2/memory/me`, { method: 'POST', headers, body });
  assert.equal(answer.status, 200);

  const elsewhere = withSettings(context);
  const database = new DatabaseSync(databaseOf(folder), { readOnly: true });
  await backup(database, databaseOf(elsewhere));
  database.close();
  const other = await start(context, elsewhere);
  assert.match(await (await fetch(`${other.origin}/backend-api/v2/memory/me`)).text(), /I like the sea/);
  for (const each of [running, other]) await end(each);
  for (const each of [running, other]) assert.doesNotMatch((await each.ended).stderr, /"level":"(warn|error)"/);
});
