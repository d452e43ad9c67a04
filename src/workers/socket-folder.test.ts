import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { removeDeadFolders } from './socket-folder.ts';

/** The number of a process that has ended. */
const DEAD = spawnSync(process.execPath, ['--version']).pid;

describe('folders of sockets', { skip: process.platform === 'win32' }, () => {
  async function listen(context: TestContext, file: string): Promise<Server> {
    const server = createServer().listen(file);
    context.after(() => server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    return server;
  }

  /** A socket where nobody listens any more, as a process leaves it that is killed. */
  async function deadSocket(context: TestContext, file: string): Promise<void> {
    const server = await listen(context, `${file}-`);
    linkSync(`${file}-`, file);
    await new Promise((resolve) => server.close(resolve));
  }

  test('are removed where process and sockets are dead, and nothing else is', async (context) => {
    const place = temporaryFolder(context);
    const at = (name: string): string => path.join(place, name);
    const outside = at('outside');
    const own = at(`sluice-${process.pid}-ownown`);
    const dead = [`sluice-${DEAD}-aaaaaa`, `sluice-${DEAD}-empty0`, `sluice-${process.pid}-before`];
    const kept = [
      `sluice-${process.ppid}-bbbbbb`,
      `sluice-${DEAD}-listen`,
      `sluice-${DEAD}-strang`,
      `sluice-${DEAD}-nosock`,
      `sluice-${DEAD}`,
      'sluice-aaaaaa',
    ];
    for (const folder of [outside, own, ...[...dead, ...kept].map(at)]) mkdirSync(folder);
    for (const name of [...dead, ...kept]) {
      if (!name.endsWith('empty0')) await deadSocket(context, path.join(at(name), '00a1.sock'));
    }
    await listen(context, path.join(at(`sluice-${DEAD}-listen`), '00a2.sock'));
    writeFileSync(path.join(at(`sluice-${DEAD}-strang`), 'letter.txt'), 'Dear');
    writeFileSync(path.join(at(`sluice-${DEAD}-nosock`), '00a2.sock'), 'Dear');
    await deadSocket(context, path.join(outside, '00a1.sock'));
    symlinkSync(outside, at(`sluice-${DEAD}-linked`));

    await removeDeadFolders(own);
    assert.deepEqual(
      readdirSync(place).sort(),
      ['outside', path.basename(own), `sluice-${DEAD}-linked`, ...kept].sort(),
    );
    for (const folder of [outside, ...kept.map(at)]) assert.ok(existsSync(path.join(folder, '00a1.sock')), folder);
  });

  test('are no reason to fail where there are none', async (context) => {
    await removeDeadFolders(path.join(temporaryFolder(context), 'missing', 'own'));
  });
});
