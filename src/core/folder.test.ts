import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { makeFolder, makeFolderNow } from './folder.ts';

describe('folders', () => {
  test('are made by many at the same time, with what is missing above them', async (context) => {
    const root = temporaryFolder(context);
    for (let round = 0; round < 200; round += 1) {
      const folder = path.join(root, `${round}`, 'a', 'b');
      const all = Array.from({ length: 6 }, async (_, index) => {
        // One begins when another has made a part of it.
        for (let turn = 0; turn < index * (round % 4); turn += 1) await immediate();
        await makeFolder(index % 2 === 0 ? folder : path.join(folder, `${index}`));
      });
      await Promise.all(all);
      for (const each of [path.dirname(folder), folder]) assert.equal(statSync(each).mode & 0o777, 0o700);
    }
  });

  test('cannot be made in a file, nor where the system has no room for any', async (context) => {
    const file = path.join(temporaryFolder(context), 'file');
    writeFileSync(file, '');
    for (const folder of [path.join(file, 'a', 'b'), ...(process.platform === 'linux' ? ['/proc/nothing/a'] : [])]) {
      await assert.rejects(makeFolder(folder), { code: /^(ENOTDIR|ENOENT)$/ });
      assert.throws(() => makeFolderNow(folder), { code: /^(ENOTDIR|ENOENT)$/ });
    }
  });
});
