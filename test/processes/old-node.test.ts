import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/config-folder.ts';

const bin = fileURLToPath(new URL('../../bin', import.meta.url));

/** What a Node that is too old says of itself. */
const OLD = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } })';

/** Starts the command on a Node that is too old, with this program as the Node that comes along. */
function startOnOldNode(context: TestContext, carried: string) {
  const folder = temporaryFolder(context);
  cpSync(bin, path.join(folder, 'bin'), { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  const carrier = path.join(folder, `node_modules/node-${process.platform}-${process.arch}`);
  const program = path.join(carrier, 'bin/node');
  mkdirSync(path.dirname(program), { recursive: true });
  writeFileSync(path.join(carrier, 'package.json'), '{}');
  writeFileSync(program, carried);
  chmodSync(program, 0o755);
  const words = ['--import', `data:text/javascript,${encodeURIComponent(OLD)}`, path.join(folder, 'bin/sluice.js')];
  const { status, stderr } = spawnSync(process.execPath, [...words, 'models'], { encoding: 'utf8' });
  return { status, stderr };
}

describe('on a Node that is too old', { skip: process.platform !== 'linux' }, () => {
  test('the one that comes along runs, and its end is that of the command', (context) => {
    const { status, stderr } = startOnOldNode(context, '#!/bin/sh\nexit 3\n');
    assert.deepEqual({ status, stderr }, { status: 3, stderr: '' });
  });

  test('where a library of it is missing, the error names the package', (context) => {
    const { status, stderr } = startOnOldNode(
      context,
      '#!/bin/sh\necho "node: error while loading shared libraries: libatomic.so.1" >&2\nexit 127\n',
    );
    assert.equal(status, 127);
    assert.match(
      stderr,
      /libatomic\.so\.1\n.*install libatomic1 \(Debian, Ubuntu\).* Or install Node 24\.15\.0 or newer\.\n$/,
    );
  });

  test('where the system is not made for it, the error says so', (context) => {
    const { status, stderr } = startOnOldNode(context, '#!/lib/no-such-loader\n');
    assert.equal(status, 1);
    assert.match(
      stderr,
      /could not start .*: it was made for a system with glibc\. Or install Node 24\.15\.0 or newer\.\n$/,
    );
  });
});
