import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import fsPromises, { type FileHandle, open as openFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { testLogger } from '../../../test/support/call.ts';
import { temporaryFolder } from '../../../test/support/config-folder.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { MOST_SEGMENTS } from '../file-path.ts';
import { DiskFiles } from './files.ts';
import { temporaryName } from './temporary.ts';

const text = (value: string) => [Buffer.from(value)];

function openFiles(context: TestContext) {
  const root = path.join(temporaryFolder(context), 'files');
  const log = testLogger();
  const open = () => new DiskFiles(root, log);
  const paths = async (files: DiskFiles, folder: string) =>
    (await Array.fromAsync(files.list(folder))).map((info) => info.path).sort();
  return { root, log, open, paths };
}

describe('files on the disk', () => {
  test('are their owner’s only, and nothing temporary stays', async (context) => {
    const { root, open } = openFiles(context);
    const files = open();
    await files.write('a/b/c', text('x'));
    assert.deepEqual(readdirSync(path.join(root, '.tmp')), []);
    if (process.platform === 'win32') return context.skip('files have no mode there');
    assert.equal(statSync(path.join(root, 'a/b/c')).mode & 0o777, 0o600);
    for (const folder of ['', 'a', 'a/b', '.tmp']) assert.equal(statSync(path.join(root, folder)).mode & 0o777, 0o700);
  });

  for (const code of ['EPERM', 'EISDIR']) {
    test(`replace nothing where they are to be new, also where a file cannot have two names: ${code}`, async (context) => {
      const { root, open, paths } = openFiles(context);
      const files = open();
      const refused = context.mock.method(fsPromises, 'link', () =>
        Promise.reject(Object.assign(new Error('no links'), { code })),
      );
      syncBuiltinESMExports();
      context.after(() => {
        refused.mock.restore();
        syncBuiltinESMExports();
      });
      await files.write('a/b', text('first'), { onlyNew: true });
      await assert.rejects(files.write('a/b', text('second'), { onlyNew: true }), { code: 'conflict' });
      assert.equal(refused.mock.callCount(), 2);
      assert.equal(readFileSync(path.join(root, 'a/b'), 'utf8'), 'first');
      assert.deepEqual(await paths(files, 'a'), ['a/b']);
      assert.deepEqual(readdirSync(path.join(root, '.tmp')), []);
    });
  }

  test('trouble that has passed is seen to have, though nobody writes', async (context) => {
    const { root, log, open } = openFiles(context);
    writeFileSync(root, 'a file in the place of the folder');
    const files = open();
    await files.recover();
    await assert.rejects(files.write('a', text('x')), { code: 'storage_failed' });
    await files.recover();
    assert.notEqual(files.problem, undefined);
    rmSync(root);
    await files.recover();
    assert.equal(files.problem, undefined);
    assert.deepEqual(readdirSync(path.join(root, '.tmp')), []);
    assert.equal(log.lines.at(-1)?.message, 'storage is in order again');
    await files.recover();
  });

  test('a list that the system does not give is a failure of the storage', async (context) => {
    const { open, paths } = openFiles(context);
    const files = open();
    await files.write('a/b', text('x'));
    const refused = context.mock.method(fsPromises, 'opendir', () =>
      Promise.reject(Object.assign(new Error('no more'), { code: 'EMFILE' })),
    );
    syncBuiltinESMExports();
    context.after(() => {
      refused.mock.restore();
      syncBuiltinESMExports();
    });
    await assert.rejects(paths(files, 'a'), { code: 'storage_failed', message: /Too many files are open/ });
    assert.equal(refused.mock.callCount(), 1);
    assert.match(files.problem ?? '', /Too many files are open/);
  });

  test('a folder that is deleted while it is listed is none, and no failure', async (context) => {
    const { open, paths } = openFiles(context);
    const files = open();
    await files.write('a/b/c', text('x'));
    const { opendir } = fsPromises;
    const listing = context.mock.method(fsPromises, 'opendir', async (folder: string) => {
      if (folder.endsWith('b')) await files.delete('a/b');
      return await opendir(folder);
    });
    syncBuiltinESMExports();
    context.after(() => {
      listing.mock.restore();
      syncBuiltinESMExports();
    });
    await files.write('a/d', text('x'));
    assert.deepEqual(await paths(files, 'a'), ['a/d']);
    assert.equal(files.problem, undefined);
  });

  test('what the disk does not tell is no absence: whoever asks for it hears of a failure of the storage', async (context) => {
    const { open } = openFiles(context);
    const files = open();
    await files.write('a/b', text('x'));
    const refused = context.mock.method(fsPromises, 'lstat', () =>
      Promise.reject(Object.assign(new Error('as the system says it'), { code: 'EIO' })),
    );
    syncBuiltinESMExports();
    const mend = () => {
      refused.mock.restore();
      syncBuiltinESMExports();
    };
    context.after(mend);
    const failure = { code: 'storage_failed', message: /The disk reports an error/ };
    await assert.rejects(files.stat('a/b'), failure);
    await assert.rejects(files.open('a/b'), failure);
    await assert.rejects(files.delete('a/b'), failure);
    await assert.rejects(Array.fromAsync(files.list('a')), failure);
    mend();
    assert.equal((await files.stat('a/b'))?.size, 1);
  });

  test('a folder that cannot be made fails with the reason; one that another process has just made is there', async (context) => {
    const { root, open } = openFiles(context);
    const files = open();
    await files.write('a/b', text('x'));
    const { mkdir } = fsPromises;
    let code = 'ENOSPC';
    const making = context.mock.method(fsPromises, 'mkdir', async (folder: string) => {
      if (code === 'EEXIST') await mkdir(folder);
      throw Object.assign(new Error('as the system says it'), { code });
    });
    syncBuiltinESMExports();
    context.after(() => {
      making.mock.restore();
      syncBuiltinESMExports();
    });
    await assert.rejects(files.write('c/d', text('x')), { code: 'storage_failed', message: /The disk is full/ });
    assert.equal(existsSync(path.join(root, 'c')), false);
    code = 'EEXIST';
    // The folder for what is being written is there.
    await files.write('c/d', text('x'));
    assert.equal(readFileSync(path.join(root, 'c/d'), 'utf8'), 'x');
  });

  test('what is being written is neither listed nor served, and goes when the body fails', async (context) => {
    const { root, open, paths } = openFiles(context);
    const files = open();
    await files.write('a/old', text('x'));
    async function* body() {
      yield Buffer.from('half');
      assert.equal(readdirSync(path.join(root, '.tmp')).length, 1);
      assert.deepEqual(await paths(files, 'a'), ['a/old']);
      assert.equal(await files.stat('a/new'), undefined);
      throw new Error('cut');
    }
    await assert.rejects(files.write('a/new', body()), { message: 'cut' });
    assert.deepEqual(readdirSync(path.join(root, '.tmp')), []);
  });

  test('what disappears while it is being written is a failure, not waited for', async (context) => {
    const { root, open } = openFiles(context);
    async function* body() {
      yield Buffer.from('x');
      for (const name of readdirSync(path.join(root, '.tmp'))) rmSync(path.join(root, '.tmp', name));
    }
    const files = open();
    await assert.rejects(files.write('a/b', body()), { code: 'storage_failed' });
    assert.equal(await files.stat('a/b'), undefined);
    await files.write('a/b', text('x'));
    assert.equal(files.problem, undefined);
  });

  test('what is deleted is nowhere on the disk, be it a file or a folder', async (context) => {
    const { root, open } = openFiles(context);
    const files = open();
    for (const name of ['a/file', 'b/c/file']) await files.write(name, text('x'));
    assert.equal(await files.delete('a/file'), 1);
    assert.equal(await files.delete('b'), 1);
    assert.deepEqual(readdirSync(root, { recursive: true }).map(String).sort(), ['.tmp', 'a']);
  });

  for (const method of ['unlink', 'rename'] as const) {
    test(`what cannot be deleted is not taken for something that was not there: ${method}`, async (context) => {
      const { open, paths } = openFiles(context);
      const files = open();
      await files.write('a/file', text('x'));
      const refused = context.mock.method(fsPromises, method, () =>
        Promise.reject(Object.assign(new Error('not permitted'), { code: 'EACCES' })),
      );
      syncBuiltinESMExports();
      context.after(() => {
        refused.mock.restore();
        syncBuiltinESMExports();
      });
      await assert.rejects(files.delete(method === 'unlink' ? 'a/file' : 'a'), { code: 'storage_failed' });
      assert.deepEqual(await paths(files, 'a'), ['a/file']);
    });
  }

  test('a folder is deleted also where somebody has removed the temporary one', async (context) => {
    const { root, open } = openFiles(context);
    const files = open();
    await files.write('a/b', text('x'));
    await files.write('a/c', text('x'));
    rmSync(path.join(root, '.tmp'), { recursive: true });
    assert.equal(await files.delete('a'), 2);
    assert.deepEqual(readdirSync(root), ['.tmp']);
    assert.equal(await files.delete('a'), 0);
  });

  test('what processes left behind goes at the start; what live ones are writing stays', async (context) => {
    const { root, open } = openFiles(context);
    const temporary = path.join(root, '.tmp');
    mkdirSync(path.join(temporary, '999999999-abc-removed-folder', 'sub'), { recursive: true });
    const old = `${process.ppid}-abc-old`;
    const names = [
      '999999999-abc-1',
      `${process.pid}-earlier-1`,
      'strange',
      `${process.ppid}-abc-1`,
      old,
      temporaryName(),
    ];
    for (const name of names) writeFileSync(path.join(temporary, name), 'half');
    utimesSync(path.join(temporary, old), 0, 0);
    await open().write('a', text('x'));
    assert.deepEqual(readdirSync(temporary).sort(), [`${process.ppid}-abc-1`, names.at(-1)].sort());
  });

  test('what another machine is writing stays, whose processes nobody knows here, until it is a day old', async (context) => {
    const { root, open } = openFiles(context);
    const temporary = path.join(root, '.tmp');
    mkdirSync(temporary, { recursive: true });
    const [own, old, fresh] = ['999999999-abc-1', '999999999-abc-2', `${process.pid}-abc-3`];
    const names = [temporaryName().replace(/^.*@/, `${own}@`), `${old}@another`, `${fresh}@another`];
    for (const name of names) writeFileSync(path.join(temporary, name), 'half');
    utimesSync(path.join(temporary, `${old}@another`), 0, 0);
    await open().write('a', text('x'));
    assert.deepEqual(readdirSync(temporary), [`${fresh}@another`]);
  });

  test('what live ones are writing stays where the clock is set forward', async (context) => {
    const { root, open } = openFiles(context);
    const temporary = path.join(root, '.tmp');
    const name = `${process.ppid}-abc-1`;
    mkdirSync(temporary, { recursive: true });
    writeFileSync(path.join(temporary, name), 'half');
    const now = Date.now();
    context.mock.method(Date, 'now', () => now + 400 * 86_400_000);
    await open().write('a', text('x'));
    assert.deepEqual(readdirSync(temporary), [name]);
  });

  test('is on the disk before it has its name, and its name before it is acknowledged', async (context) => {
    if (process.platform !== 'linux') return context.skip('only Linux tells which file an open one is');
    const { root, open } = openFiles(context);
    const files = open();
    await files.write('b/first', text('makes the folders'));
    const probe = await openFile(root);
    const { sync } = probe;
    const synced: string[] = [];
    context.mock.method(Object.getPrototypeOf(probe), 'sync', async function (this: FileHandle) {
      const inside = path.relative(realpathSync(root), readlinkSync(`/proc/self/fd/${this.fd}`));
      const place = inside.startsWith('.tmp') ? '.tmp' : inside;
      await sync.call(this);
      // A disk that takes its time: whoever does not wait for it has gone on by then.
      await sleep(20);
      synced.push(`${place}, ${existsSync(path.join(root, 'b/own')) ? 'named' : 'not named'}`);
    });
    await probe.close();
    await files.write('b/own', text('own'));
    assert.deepEqual(synced.splice(0), ['.tmp, not named', 'b, named']);
    // So are the folders that it needs, and that it is gone.
    await files.delete('b/own');
    assert.deepEqual(synced.splice(0), ['b, not named']);
    await files.write('c/d/another', text('another'));
    assert.deepEqual(
      synced.map((each) => each.split(',', 1)[0]),
      ['.tmp', '', 'c', 'c/d'],
    );
  });

  test('a symbolic link is never followed: not served, not listed, not written through, not deleted through', async (context) => {
    if (process.platform === 'win32') return context.skip('links need a privilege there');
    const { root, open, paths } = openFiles(context);
    const files = open();
    const outside = mkdtempSync(path.join(path.dirname(root), 'outside-'));
    writeFileSync(path.join(outside, 'secret'), 'secret');
    await files.write('b/own', text('own'));
    symlinkSync(outside, path.join(root, 'folder'));
    symlinkSync(outside, path.join(root, 'b', 'sub'));
    symlinkSync(path.join(outside, 'secret'), path.join(root, 'b', 'link'));
    for (const name of ['folder/secret', 'b/sub/secret', 'b/link']) {
      assert.equal(await files.stat(name), undefined, name);
      assert.equal(await files.open(name), undefined, name);
    }
    assert.deepEqual(await paths(files, 'b'), ['b/own']);
    assert.deepEqual(await paths(files, 'folder'), []);
    await assert.rejects(files.write('folder/new', text('x')), { code: 'storage_failed' });
    await assert.rejects(files.write('b/sub/new', text('x')), { code: 'storage_failed' });
    await files.write('b/link', text('replaced'));
    assert.equal(await files.delete('folder'), 0);
    assert.equal(await files.delete('folder/secret'), 0);
    assert.equal(await files.delete('b'), 2);
    assert.deepEqual(readdirSync(outside), ['secret']);
    assert.equal(readFileSync(path.join(outside, 'secret'), 'utf8'), 'secret');
  });

  test('a link that takes a file’s place after it was opened is not followed either', async (context) => {
    if (process.platform === 'win32') return context.skip('links need a privilege there');
    const { root, open } = openFiles(context);
    const files = open();
    await files.write('a', text('own'));
    writeFileSync(path.join(root, 'secret file'), 'secret');
    const opened = await files.open('a');
    rmSync(path.join(root, 'a'));
    symlinkSync(path.join(root, 'secret file'), path.join(root, 'a'));
    await assert.rejects(Array.fromAsync(opened?.body ?? []));
  });

  test('not even one that leads to the same file, which has moved', async (context) => {
    if (process.platform === 'win32') return context.skip('links need a privilege there');
    const { root, open } = openFiles(context);
    const files = open();
    await files.write('a', text('own'));
    const opened = await files.open('a');
    renameSync(path.join(root, 'a'), path.join(root, 'moved'));
    symlinkSync(path.join(root, 'moved'), path.join(root, 'a'));
    await assert.rejects(Array.fromAsync(opened?.body ?? []));
  });

  test('a file that was replaced or deleted after it was opened is told, not mixed up', async (context) => {
    const { root, open } = openFiles(context);
    const files = open();
    await files.write('a', text('one'));
    const first = await files.open('a');
    await files.write('a', text('two'));
    await assert.rejects(Array.fromAsync(first?.body ?? []), { code: 'conflict' });
    const second = await files.open('a');
    await files.delete('a');
    await assert.rejects(Array.fromAsync(second?.body ?? []), { code: 'conflict' });
    assert.equal(files.problem, undefined);
    // Neither its time nor its place alone tells that it is the same.
    await files.write('a', text('one'));
    const { mtime } = statSync(path.join(root, 'a'));
    utimesSync(path.join(root, 'a'), mtime, mtime);
    const third = await files.open('a');
    await files.write('a', text('two'));
    utimesSync(path.join(root, 'a'), mtime, mtime);
    await assert.rejects(Array.fromAsync(third?.body ?? []), { code: 'conflict' });
    const fourth = await files.open('a');
    writeFileSync(path.join(root, 'a'), 'six');
    await assert.rejects(Array.fromAsync(fourth?.body ?? []), { code: 'conflict' });
  });

  test('nobody is acknowledged in a folder whose own name is not on the disk yet, though another one makes it', async (context) => {
    if (process.platform !== 'linux') return context.skip('only Linux tells which file an open one is');
    const { root, open } = openFiles(context);
    const files = open();
    await files.write('b/first', text('makes the folders'));
    const probe = await openFile(root);
    const { sync } = probe;
    const done: string[] = [];
    context.mock.method(Object.getPrototypeOf(probe), 'sync', async function (this: FileHandle) {
      const isRoot = readlinkSync(`/proc/self/fd/${this.fd}`) === realpathSync(root);
      await sync.call(this);
      // The name of the new folder stands in the root, which takes longer than all else.
      if (!isRoot) return;
      await sleep(200);
      done.push('folder');
    });
    await probe.close();
    const write = async (name: string): Promise<void> => {
      await files.write(name, text('x'));
      done.push('file');
    };
    const first = write('new/one');
    await eventually('the folder is made', () => existsSync(path.join(root, 'new')));
    await Promise.all([first, write('new/two')]);
    assert.deepEqual(done, ['folder', 'file', 'file']);
  });

  test('a folder goes with its last file, so that nothing tells that there was one', async (context) => {
    const { root, open } = openFiles(context);
    const files = open();
    for (const name of ['a/b/one', 'a/b/two', 'a/c/one']) await files.write(name, text('x'));
    await files.delete('a/b/one');
    assert.deepEqual(readdirSync(path.join(root, 'a')).sort(), ['b', 'c']);
    await files.delete('a/b/two');
    await files.delete('a/c/one');
    assert.deepEqual(readdirSync(path.join(root, 'a')), []);
  });

  test('a folder may be deleted while others write into it', async (context) => {
    const { open } = openFiles(context);
    const files = open();
    for (let round = 0; round < 20; round += 1) {
      const deleting = async (): Promise<void> => {
        for (let times = 0; times < 8; times += 1) await files.delete('a/b');
      };
      await Promise.all([files.write('a/b/c', text('x')), files.write('a/b/d', text('x')), deleting()]);
      await Promise.all([files.write('a/b/c', text('x')), files.write('a/b/d', text('x'))]);
      await Promise.all([files.delete('a/b/c'), files.delete('a/b/d')]);
      assert.equal(files.problem, undefined);
    }
  });

  test('one name is a file or a folder, not both', async (context) => {
    const { open, paths } = openFiles(context);
    const files = open();
    await files.write('a/b', text('x'));
    await assert.rejects(files.write('a', text('x')), { code: 'conflict' });
    await assert.rejects(files.write('a/b/c', text('x')), { code: 'conflict' });
    assert.deepEqual(await paths(files, 'a'), ['a/b']);
    assert.equal(files.problem, undefined);
  });

  test('names of others in the folder are left alone', async (context) => {
    const { root, open, paths } = openFiles(context);
    const files = open();
    await files.write('a/b', text('x'));
    for (const name of ['.hidden', 'with blank', 'ünicode']) writeFileSync(path.join(root, 'a', name), 'x');
    // So deep is no path.
    const deep = path.join(root, 'a', ...'123456789'.slice(0, MOST_SEGMENTS - 1));
    mkdirSync(deep, { recursive: true });
    writeFileSync(path.join(deep, 'x'), 'x');
    assert.deepEqual(await paths(files, 'a'), ['a/b']);
  });

  test('a folder that may not be written fails with the reason, and works again afterwards', async (context) => {
    if (process.platform === 'win32' || process.getuid?.() === 0) return context.skip('nothing is forbidden to root');
    const { root, open, log } = openFiles(context);
    const files = open();
    await files.write('a/b', text('x'));
    chmodSync(path.join(root, '.tmp'), 0o500);
    await assert.rejects(files.write('a/c', text('x')), { code: 'storage_failed' });
    assert.match(files.problem ?? '', /has no permission to use its data folder: give it to the account/);
    chmodSync(path.join(root, '.tmp'), 0o700);
    await files.write('a/c', text('x'));
    assert.equal(files.problem, undefined);
    assert.deepEqual(
      log.lines.map(({ level }) => level),
      ['error', 'info'],
    );
  });

  for (const [code, sentence] of [
    ['ENOSPC', 'The disk is full.'],
    ['EDQUOT', 'The disk is full.'],
    ['EFBIG', 'The disk is full.'],
    ['EIO', 'The disk reports an error.'],
    ['ESTALE', 'The disk reports an error.'],
    ['EROFS', 'The data folder cannot be written.'],
  ] as const) {
    for (const step of ['writeFile', 'sync'] as const) {
      test(`what fails with ${code} is not acknowledged, and what was there stays: ${step}`, async (context) => {
        const { root, open, paths } = openFiles(context);
        const files = open();
        await files.write('a/b', text('before'));
        const probe = await openFile(root);
        const failing = context.mock.method(Object.getPrototypeOf(probe), step, () =>
          Promise.reject(Object.assign(new Error('as the system says it'), { code })),
        );
        await assert.rejects(files.write('a/b', text('after')), {
          code: 'storage_failed',
          message: new RegExp(sentence),
        });
        await assert.rejects(files.write('c/d', text('after')), { code: 'storage_failed' });
        assert.equal(files.problem, sentence);
        failing.mock.restore();
        await probe.close();
        assert.equal(readFileSync(path.join(root, 'a/b'), 'utf8'), 'before');
        assert.deepEqual([await paths(files, 'a'), await paths(files, 'c')], [['a/b'], []]);
        assert.deepEqual(readdirSync(path.join(root, '.tmp')), []);
        await files.write('a/b', text('after'));
        assert.equal(files.problem, undefined);
      });
    }
  }

  test('opening makes the folder by itself, in the background', async (context) => {
    const { root, open } = openFiles(context);
    open();
    await eventually('the folder is there', () => existsSync(path.join(root, '.tmp')));
  });
});
