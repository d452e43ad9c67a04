import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Stores } from '../../src/core/stores.ts';
import { openStores } from '../../src/stores/index.ts';
import { testLogger } from '../support/call.ts';
import { temporaryFolder } from '../support/config-folder.ts';
import type { Told } from './full-disk-child.ts';

const CHILD = fileURLToPath(new URL('./full-disk-child.ts', import.meta.url));
/** The child's Node, its script, and its own arguments follow. */
const RUN = 'exec "$0" "$@"';

function runChild(command: string, words: readonly string[], childWords: readonly string[]): Told {
  const { stdout, stderr, status } = spawnSync(command, [...words, process.execPath, CHILD, ...childWords], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as Told;
}

function assertHonest(told: Told): void {
  assert.ok(told.chats.length > 0 && told.files.length > 0, JSON.stringify(told));
  assert.equal(told.chatFailure, 'storage_failed');
  assert.equal(told.fileFailure, 'storage_failed');
  assert.notEqual(told.problem, 'none');
  assert.deepEqual(told.leftovers, []);
  assert.equal(told.readable, true);
}

describe('a disk without room', () => {
  test('files may not grow any further: nothing that was promised is lost, all else is refused', async (context) => {
    if (process.platform === 'win32') return context.skip('there is no such limit');
    let stores: Stores | undefined;
    // Hooks run in this order, and the folder must not go before the stores are closed.
    context.after(() => stores?.close());
    const folder = path.join(temporaryFolder(context), 'data');
    // In blocks of 512 or 1,024 bytes, as the shell has it.
    const told = runChild('sh', ['-c', `ulimit -f 1200; ${RUN}`], [folder]);
    assertHonest(told);
    stores = openStores({ dataDir: folder }, testLogger());
    for (const id of told.chats) assert.equal((await stores.chats.get(id))?.updated, Number(id));
    for (const name of told.files) assert.notEqual(await stores.files.stat(name), undefined);
    await stores.chats.put({ id: 'after', owner: null, updated: 0, body: {} });
  });

  test('a full disk: the same, and once there is room writing goes on', (context) => {
    const mount = path.join(temporaryFolder(context), 'disk');
    mkdirSync(mount);
    const script = `mount -t tmpfs -o size=4m none '${mount}' || exit 77; ${RUN}`;
    const probe = spawnSync('unshare', ['-rm', 'sh', '-c', `mount -t tmpfs none '${mount}'`]);
    if (probe.status !== 0) return context.skip('no small disk can be made here');
    const told = runChild(
      'unshare',
      ['-rm', 'sh', '-c', script],
      [path.join(mount, 'data'), path.join(mount, 'ballast')],
    );
    assertHonest(told);
    assert.equal(told.problem, 'The disk is full.');
    assert.equal(told.recovered, true);
  });
});
