import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Files, OpenFile } from '../../src/core/stores.ts';
import { all, assertRefused } from './assertions.ts';
import { HOSTILE_IDS } from './hostile-ids.ts';
import type { Open } from './worlds.ts';

const text = (value: string) => [Buffer.from(value)];
const bytesOf = async (file: OpenFile | undefined) => Buffer.concat([...(await all(file?.body ?? none()))]);
const read = async (store: Files, path: string) => (await bytesOf(await store.open(path))).toString();
const paths = async (store: Files, folder: string) => (await all(store.list(folder))).map(({ path }) => path).sort();

async function* none(): AsyncIterable<Uint8Array> {}

/** What every implementation of `Files` does. */
export function filesContract(name: string, open: Open<Files>): void {
  describe(`files: ${name}`, () => {
    test('what was never written is absent', async (context) => {
      const { store } = await open(context);
      assert.equal(await store.stat('a'), undefined);
      assert.equal(await store.open('a/b'), undefined);
      assert.equal(await store.open('a/b', { start: 0, end: 1 }), undefined);
      assert.deepEqual(await paths(store, 'a'), []);
      assert.equal(await store.delete('a'), 0);
    });

    test('what was written comes back whole', async (context) => {
      const { store } = await open(context);
      const before = Date.now();
      const pieces = [Buffer.from('one '), new Uint8Array([0, 255]), Buffer.alloc(0), Buffer.from(' two')];
      const info = await store.write('bucket/media/a.bin', pieces);
      assert.equal(info.path, 'bucket/media/a.bin');
      assert.equal(info.size, 10);
      assert.ok(Math.abs(info.modified - before) < 60_000 && Number.isInteger(info.modified), `${info.modified}`);
      assert.deepEqual(await store.stat('bucket/media/a.bin'), info);
      const { body, ...opened } = (await store.open('bucket/media/a.bin')) ?? {};
      assert.deepEqual(opened, info);
      assert.deepEqual(Buffer.concat([...(await all(body ?? none()))]), Buffer.concat(pieces));
    });

    test('a body may be empty, come in many pieces, or reuse its memory', async (context) => {
      const { store } = await open(context);
      assert.equal((await store.write('empty', [])).size, 0);
      assert.equal(await read(store, 'empty'), '');
      const reused = Buffer.alloc(1_000);
      async function* many() {
        for (let n = 0; n < 5_000; n += 1) yield reused.fill(n % 251);
      }
      assert.equal((await store.write('many', many())).size, 5_000_000);
      const bytes = await bytesOf(await store.open('many'));
      assert.ok(bytes.every((byte, index) => byte === Math.floor(index / 1_000) % 251));
    });

    test('what is to be new replaces nothing, and one of all who try it at once succeeds', async (context) => {
      const { store, another } = await open(context);
      const other = await another();
      const isNew = { onlyNew: true };
      const taken = { code: 'conflict' };
      const info = await store.write('bucket/a', text('first'), isNew);
      assert.deepEqual(await store.stat('bucket/a'), info);
      await assert.rejects(other.write('bucket/a', text('second'), isNew), taken);
      assert.equal(await read(store, 'bucket/a'), 'first');
      await assert.rejects(store.write('bucket', text('a file'), isNew), taken);
      await store.write('bucket/a', text('replaced'));
      assert.equal(await read(store, 'bucket/a'), 'replaced');
      await store.delete('bucket/a');
      const tries = Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? store : other).write('bucket/a', text(`${n}`), isNew),
      );
      const ends = await Promise.allSettled(tries);
      const won = ends.findIndex(({ status }) => status === 'fulfilled');
      assert.equal(await read(store, 'bucket/a'), `${won}`);
      assert.deepEqual(
        ends.flatMap((end) => (end.status === 'rejected' ? [end.reason.code] : [])),
        Array.from({ length: 19 }, () => 'conflict'),
      );
      assert.deepEqual(await paths(other, 'bucket'), ['bucket/a']);
    });

    test('a range is a part, both ends included', async (context) => {
      const { store } = await open(context);
      await store.write('a', text('0123456789'));
      const part = async (start: number, end: number) => {
        const file = await store.open('a', { start, end });
        assert.equal(file?.size, 10, 'the size is the whole file’s');
        return (await bytesOf(file)).toString();
      };
      assert.equal(await part(0, 0), '0');
      assert.equal(await part(2, 4), '234');
      assert.equal(await part(9, 9), '9');
      assert.equal(await part(7, 1_000_000), '789');
      assert.equal(await part(0, 9), '0123456789');
    });

    test('a range that the file does not have is refused with status 416', async (context) => {
      const { store } = await open(context);
      await store.write('a', text('0123456789'));
      await store.write('empty', []);
      const bad = [
        [10, 10],
        [10, 20],
        [5, 4],
        [-1, 2],
        [0, -1],
        [0.5, 2],
        [Number.NaN, 1],
      ] as const;
      for (const [start, end] of bad) {
        await assertRefused(() => store.open('a', { start, end }), 'invalid_request');
        await assert.rejects(store.open('a', { start, end }), { status: 416 });
      }
      await assert.rejects(store.open('empty', { start: 0, end: 0 }), { status: 416 });
    });

    test('a reader may stop early, or never begin', async (context) => {
      const { store } = await open(context);
      await store.write('a', [Buffer.alloc(3_000_000)]);
      for (let n = 0; n < 50; n += 1) {
        for await (const piece of (await store.open('a'))?.body ?? none()) {
          assert.ok(piece.length > 0);
          break;
        }
        await store.open('a');
      }
      assert.equal(await store.delete('a'), 1);
    });

    test('paths outside the rule are refused by everything, and change nothing', async (context) => {
      const { store } = await open(context);
      await store.write('victim/a', text('mine'));
      const bad = [
        ...HOSTILE_IDS.filter((id) => !/^[A-Za-z_~]+$/.test(id) || id.includes('~')).filter(
          (id) => id !== 'a/b' && id !== '_',
        ),
        ...[
          '',
          'a//b',
          'a/',
          '/a',
          'a/../b',
          'a/./b',
          '.tmp/x',
          'a/.b',
          '..a',
          'a b',
          'a\tb',
          'a:b',
          'a\n',
          'é',
          'a|b',
          'a%b',
        ],
        ...['a/b/c/d/e/f', 'x'.repeat(256), `a/${'x'.repeat(256)}`],
      ];
      assert.ok(bad.length > 60, `${bad.length}`);
      for (const path of bad) {
        await assertRefused(() => store.write(path, text('x')), 'invalid_request');
        await assertRefused(() => store.stat(path), 'invalid_request');
        await assertRefused(() => store.open(path), 'invalid_request');
        await assertRefused(() => store.delete(path), 'invalid_request');
        await assertRefused(() => all(store.list(path)), 'invalid_request');
      }
      assert.equal(await read(store, 'victim/a'), 'mine');
      assert.deepEqual(await paths(store, 'victim'), ['victim/a']);
    });

    test('all names of the rule are their own files, upper and lower case apart', async (context) => {
      const { store } = await open(context);
      const good = [
        'a',
        'A',
        'a.b',
        'a..b',
        'a.',
        '-rf',
        '--',
        '@',
        '+',
        '=',
        ',',
        '_',
        '__proto__',
        'constructor',
        'CON',
        'x'.repeat(255),
      ];
      for (const name of good) await store.write(`names/${name}`, text(`this is ${name}`));
      await store.write('1/2/3/4/5', text('deep'));
      assert.deepEqual(await paths(store, 'names'), good.map((name) => `names/${name}`).sort());
      for (const name of good) assert.equal(await read(store, `names/${name}`), `this is ${name}`);
      assert.equal(await read(store, '1/2/3/4/5'), 'deep');
      assert.deepEqual(await paths(store, '1'), ['1/2/3/4/5']);
    });

    test('a listing has all below the folder and nothing beside it', async (context) => {
      const { store } = await open(context);
      const written = ['b/1', 'b/2', 'b/media/1', 'b/media/thumb/1'];
      for (const path of [...written, 'bb/1', 'b.x/1', 'ab/1', 'top']) await store.write(path, text(path));
      assert.deepEqual(await paths(store, 'b'), written);
      assert.deepEqual(await paths(store, 'b/media'), ['b/media/1', 'b/media/thumb/1']);
      assert.deepEqual(await paths(store, 'b/1'), [], 'a file is no folder');
      assert.deepEqual(await paths(store, 'B'), []);
      const [info] = await all(store.list('bb'));
      assert.deepEqual(info, await store.stat('bb/1'));
      assert.equal(await store.stat('b/media'), undefined, 'a folder is no file');
      assert.equal(await store.open('b/media'), undefined);
    });

    test('a listing may be long', async (context) => {
      const { store } = await open(context);
      const names = Array.from({ length: 500 }, (_, n) => `many/${n}`);
      await Promise.all(names.map((name) => store.write(name, text(name))));
      assert.deepEqual(await paths(store, 'many'), [...names].sort());
    });

    test('deleting takes one file, or all below a folder, and nothing beside it', async (context) => {
      const { store } = await open(context);
      for (const path of ['b/1', 'b/2', 'b/media/1', 'bb/1', 'b.x/1']) await store.write(path, text(path));
      assert.equal(await store.delete('b/1'), 1);
      assert.equal(await store.delete('b/1'), 0);
      assert.equal(await store.delete('b/med'), 0);
      assert.deepEqual(await paths(store, 'b'), ['b/2', 'b/media/1']);
      assert.equal(await store.delete('b'), 2);
      assert.deepEqual(await paths(store, 'b'), []);
      assert.equal(await store.stat('b/media/1'), undefined);
      assert.equal(await store.delete('b'), 0);
      assert.equal(await read(store, 'bb/1'), 'bb/1');
      assert.equal(await read(store, 'b.x/1'), 'b.x/1');
      await store.write('b/1', text('anew'));
      assert.equal(await read(store, 'b/1'), 'anew');
    });

    test('writing again replaces the file', async (context) => {
      const { store } = await open(context);
      await store.write('a/b', text('a long first version'));
      const info = await store.write('a/b', text('short'));
      assert.equal(info.size, 5);
      assert.equal(await read(store, 'a/b'), 'short');
      assert.deepEqual(await paths(store, 'a'), ['a/b']);
    });

    test('a body that fails leaves what was there, and its own error', async (context) => {
      const { store } = await open(context);
      async function* failing() {
        yield Buffer.alloc(100_000);
        throw new RangeError('the upload was cut');
      }
      await assert.rejects(store.write('a/b', failing()), { name: 'RangeError', message: 'the upload was cut' });
      assert.equal(await store.stat('a/b'), undefined);
      assert.deepEqual(await paths(store, 'a'), []);
      await store.write('a/b', text('kept'));
      await assert.rejects(store.write('a/b', failing()), RangeError);
      assert.equal(await read(store, 'a/b'), 'kept');
    });

    test('parallel writes of one file leave one of them, whole; nobody reads a mixture', async (context) => {
      const { store } = await open(context);
      const version = (n: number) => Array.from({ length: 20 }, () => Buffer.alloc(10_000, n));
      await store.write('a/b', version(0));
      const writes = Promise.all(Array.from({ length: 20 }, (_, n) => store.write('a/b', version(n + 1))));
      const isWhole = (bytes: Buffer) => bytes.length === 200_000 && bytes.every((byte) => byte === bytes[0]);
      let done = false;
      const settled = writes.finally(() => {
        done = true;
      });
      settled.catch(() => {});
      while (!done) {
        try {
          assert.ok(isWhole(await bytesOf(await store.open('a/b'))));
        } catch (error) {
          // Replaced between opening and reading: told, not mixed.
          assert.equal((error as { code?: string }).code, 'conflict', `${error}`);
        }
      }
      await settled;
      assert.ok(isWhole(await bytesOf(await store.open('a/b'))));
      assert.deepEqual(await paths(store, 'a'), ['a/b']);
    });

    test('writes and deletes of one folder do not disturb each other', async (context) => {
      const { store } = await open(context);
      const work = Array.from({ length: 60 }, (_, n) =>
        n % 6 === 5 ? store.delete('a/sub') : store.write(`a/sub/${n}`, text(`${n}`)),
      );
      await Promise.all(work);
      for (const { path } of await all(store.list('a'))) assert.equal(`a/sub/${await read(store, path)}`, path);
    });

    test('everything is there when it is opened again', async (context) => {
      const { store, reopen } = await open(context);
      const info = await store.write('b/media/a.png', text('bytes'));
      await store.write('b/gone', text('x'));
      await store.delete('b/gone');
      const again = await reopen();
      assert.deepEqual(await again.stat('b/media/a.png'), info);
      assert.equal(await read(again, 'b/media/a.png'), 'bytes');
      assert.deepEqual(await paths(again, 'b'), ['b/media/a.png']);
    });
  });
}
