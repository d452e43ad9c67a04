import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { readConfigFile } from './file.ts';

describe('a configuration that is no regular file', { skip: process.platform === 'win32', timeout: 60_000 }, () => {
  const pipeIn = (folder: string): string => {
    const file = path.join(folder, 'pipe');
    execFileSync('mkfifo', [file]);
    return file;
  };

  test('a device without an end is refused', async () => {
    await assert.rejects(readConfigFile('/dev/zero', '/dev/zero', '--config'), {
      message:
        '--config: /dev/zero is larger than 1048576 bytes, and no file: name the one that holds the configuration',
    });
  });

  test('the device without content is an empty configuration', async () => {
    assert.deepEqual((await readConfigFile('/dev/null', '/dev/null')).raw, {});
  });

  test('a pipe into which nobody writes is refused after a while', async (context) => {
    await assert.rejects(readConfigFile(pipeIn(temporaryFolder(context)), 'pipe', '--config', 1), {
      message:
        '--config: pipe is no file, and nobody has written all of the configuration into it within 1 ms: start what writes it, or name a file',
    });
  });

  test('a pipe is read to its end, whenever its writer comes and however it writes', async (context) => {
    const file = pipeIn(temporaryFolder(context));
    const reading = readConfigFile(file, 'pipe');
    const writer = await open(file, 'w');
    for (const line of ['defaultModel: a\n', `# ${'x'.repeat(200_000)}\n`, 'workers: 2\n']) await writer.write(line);
    await writer.close();
    assert.deepEqual((await reading).raw, { defaultModel: 'a', workers: 2 });
  });

  test('links that lead to a file are followed, as Kubernetes makes them', async (context) => {
    const folder = temporaryFolder(context);
    mkdirSync(path.join(folder, '..2026'));
    writeFileSync(path.join(folder, '..2026', 'sluice.yaml'), 'workers: 2\n');
    symlinkSync('..2026', path.join(folder, '..data'));
    symlinkSync(path.join('..data', 'sluice.yaml'), path.join(folder, 'sluice.yaml'));
    assert.deepEqual((await readConfigFile(path.join(folder, 'sluice.yaml'), 'sluice.yaml')).raw, { workers: 2 });
  });
});
