import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { temporaryStores } from '../../test/support/stores.ts';
import { SluiceError } from '../core/errors.ts';
import { collectBytes } from '../core/pieces.ts';
import type { Files } from '../core/stores.ts';
import { uploadIdOf } from '../core/upload-address.ts';
import { createConverter } from '../documents/converter.ts';
import { PIECES_FOLDER, ResumableUploads, removeAbandoned } from './resumable.ts';
import { Uploads } from './uploads.ts';

const ABOUT = { name: 'a.txt', mimeType: 'text/plain', purpose: 'user_data' };
const failsWith =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof SluiceError && error.code === code;

function world(context: TestContext, age?: (modified: number) => number) {
  const { uploads: records, files } = temporaryStores(context);
  const converter = createConverter();
  context.after(() => converter.close());
  let owner: string | null = null;
  const uploads = new Uploads({ records, files, converter, owner: () => owner });
  /** As one process does; with files that do some things in another way. */
  const open = (some: Partial<Files> = {}): ResumableUploads =>
    new ResumableUploads({
      files: changed(files, some),
      uploads,
      owner: () => owner,
      mostBytes: () => 10,
      ...(age && { age }),
    });
  return { files, uploads, open, own: (by: string | null) => (owner = by) };
}

/** The same files, but for some of what they do. */
function changed(files: Files, some: Partial<Files>): Files {
  return {
    write: (path, body, options) => files.write(path, body, options),
    stat: (path) => files.stat(path),
    open: (path) => files.open(path),
    list: (folder) => files.list(folder),
    delete: (path) => files.delete(path),
    ...some,
  };
}

/** A disk that removes nothing. */
const UNREMOVABLE: Partial<Files> = {
  async delete() {
    throw new SluiceError('storage_failed', 'It cannot be removed.');
  },
};

describe('files that come piece by piece', () => {
  test('are joined in their order, whichever process took the pieces, and leave nothing behind', async (context) => {
    const { files, uploads, open } = world(context);
    const name = await open().begin(ABOUT);
    for (const [offset, text] of [
      [0, 'one'],
      [3, ''],
      [3, 'two'],
      [6, '3'],
    ] as const) {
      await open().append(name, offset, Buffer.from(text));
    }
    assert.equal(await open().received(name), 7);
    const record = await open().finish(name);
    assert.equal(record.id, uploadIdOf(name));
    assert.equal((await collectBytes((await uploads.open(record)).body)).toString(), 'onetwo3');
    assert.deepEqual(await Array.fromAsync(files.list(PIECES_FOLDER)), []);
    assert.deepEqual(await open().finish(name), record);
    await assert.rejects(open().append(name, 7, Buffer.from('x')), failsWith('not_found'));
  });

  test('are as large as they were said to be, and no larger than files may be', async (context) => {
    const uploads = world(context).open();
    await assert.rejects(uploads.begin({ ...ABOUT, size: 11 }), failsWith('too_large'));
    const name = await uploads.begin({ ...ABOUT, size: 10 });
    await uploads.append(name, 0, Buffer.alloc(9));
    await assert.rejects(uploads.append(name, 9, Buffer.alloc(2)), failsWith('too_large'));
    await assert.rejects(uploads.append(name, 8, Buffer.alloc(1)), failsWith('invalid_request'));
    await assert.rejects(uploads.finish(name), failsWith('invalid_request'));
    // What came is taken for a repetition only where it may be one.
    await assert.rejects(uploads.append(name, 0, Buffer.alloc(3)), failsWith('invalid_request'));
    assert.equal(await uploads.append(name, 0, Buffer.alloc(9)), 9);
    await uploads.append(name, 9, Buffer.alloc(1));
    assert.equal((await uploads.finish(name)).size, 10);
  });

  test('are what was promised where two pieces claim the same place at once', async (context) => {
    const { uploads, open } = world(context);
    const resumable = open();
    const name = await resumable.begin(ABOUT);
    const pieces = [Buffer.from('long'), Buffer.from('no'), Buffer.from('long')];
    const ends = await Promise.allSettled(pieces.map((piece) => resumable.append(name, 0, piece)));
    // The third is the first once more.
    assert.deepEqual(
      ends.map((end) => (end.status === 'fulfilled' ? end.value : end.reason.code)),
      [4, 'invalid_request', 4],
    );
    const record = await resumable.finish(name);
    assert.equal((await collectBytes((await uploads.open(record)).body)).toString(), 'long');
  });

  test('are what was promised where two processes take a piece for the same place', async (context) => {
    const { files, uploads, open } = world(context);
    for (const [sent, end] of [
      ['no', 'invalid_request'],
      // The same once more.
      ['long', 4],
    ] as const) {
      const name = await open().begin(ABOUT);
      const late = open({
        async write(path, body, options) {
          await open().append(name, 0, Buffer.from('long'));
          return files.write(path, body, options);
        },
      });
      const ended = await late.append(name, 0, Buffer.from(sent)).catch((error: SluiceError) => error.code);
      assert.equal(ended, end, sent);
      const record = await open().finish(name);
      assert.equal((await collectBytes((await uploads.open(record)).body)).toString(), 'long');
    }
  });

  test('are refused, and not tried for ever, where a place is taken by what is no piece', async (context) => {
    const { open } = world(context);
    const name = await open().begin(ABOUT);
    let tries = 0;
    const write = async (): Promise<never> => {
      tries += 1;
      throw new SluiceError(tries < 5 ? 'conflict' : 'internal', 'A stored folder has this name.');
    };
    const strange = open({ write });
    await assert.rejects(strange.append(name, 0, Buffer.from('long')), failsWith('conflict'));
  });

  test('are completed once', async (context) => {
    const { uploads, open } = world(context);
    const resumable = open();
    const name = await resumable.begin(ABOUT);
    await resumable.append(name, 0, Buffer.from('x'));
    const ends = await Promise.allSettled([resumable.finish(name), resumable.finish(name), resumable.finish(name)]);
    assert.deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected']);
    assert.ok(ends.every((end) => end.status === 'fulfilled' || failsWith('conflict')(end.reason)));
    assert.equal((await uploads.list({ order: 'asc', limit: 10 })).length, 1);
  });

  test('are the same for all processes that complete them at the same time', async (context) => {
    const { uploads, open } = world(context);
    const name = await open().begin(ABOUT);
    await open().append(name, 0, Buffer.from('x'));
    const [first, ...others] = await Promise.all([open().finish(name), open().finish(name), open().finish(name)]);
    for (const other of others) assert.deepEqual(other, first);
    assert.equal((await uploads.list({ order: 'asc', limit: 10 })).length, 1);
    assert.equal((await collectBytes((await uploads.open(first)).body)).toString(), 'x');
  });

  test('stay whole where another process has just completed them, and removed their pieces', async (context) => {
    const { files, uploads, open } = world(context);
    const name = await open().begin(ABOUT);
    await open().append(name, 0, Buffer.from('x'));
    const late = open({
      async *list(folder) {
        await open().finish(name);
        yield* files.list(folder);
      },
    });
    const record = await late.finish(name);
    assert.equal(record.size, 1);
    assert.equal((await collectBytes((await uploads.open(record)).body)).toString(), 'x');
  });

  test('can be completed later where that failed', async (context) => {
    const { files, open } = world(context);
    let isBroken = true;
    const resumable = open({
      open: (path) =>
        isBroken && /\d$/.test(path) ? Promise.reject(new SluiceError('storage_failed', '')) : files.open(path),
    });
    const name = await resumable.begin(ABOUT);
    assert.equal(await resumable.append(name, 0, Buffer.from('x')), 1);
    await assert.rejects(resumable.finish(name), failsWith('storage_failed'));
    isBroken = false;
    assert.equal((await resumable.finish(name)).size, 1);
  });

  test('are complete also where their pieces cannot be removed', async (context) => {
    const { uploads, open } = world(context);
    const name = await open().begin(ABOUT);
    await open().append(name, 0, Buffer.from('x'));
    const stuck = open(UNREMOVABLE);
    const record = await stuck.finish(name);
    assert.equal((await collectBytes((await uploads.open(record)).body)).toString(), 'x');
    assert.deepEqual(await stuck.finish(name), record);
  });

  test('are not said to be cancelled where they cannot be removed', async (context) => {
    const { open } = world(context);
    const name = await open().begin(ABOUT);
    await assert.rejects(open(UNREMOVABLE).cancel(name), failsWith('storage_failed'));
    assert.equal(await open().received(name), 0);
  });

  test('are missing where they are cancelled while they are completed', async (context) => {
    const { files, uploads, open } = world(context);
    const name = await open().begin(ABOUT);
    await open().append(name, 0, Buffer.from('x'));
    const late = open({
      async open(path) {
        if (!path.endsWith('about.json')) await open().cancel(name);
        return files.open(path);
      },
    });
    await assert.rejects(late.finish(name), failsWith('not_found'));
    assert.deepEqual(await uploads.list({ order: 'asc', limit: 10 }), []);
  });

  test('are their sender’s only', async (context) => {
    const { open, own } = world(context);
    own('one');
    const name = await open().begin(ABOUT);
    own('two');
    for (const ask of [
      () => open().received(name),
      () => open().append(name, 0, Buffer.from('x')),
      () => open().finish(name),
      () => open().cancel(name),
    ]) {
      await assert.rejects(ask(), failsWith('not_found'));
    }
    own('one');
    assert.equal(await open().received(name), 0);
  });

  test('that begin at once are no more than there may be', async (context) => {
    const uploads = world(context).open();
    const begun = await Promise.allSettled(Array.from({ length: 110 }, () => uploads.begin(ABOUT)));
    const refused = begun.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    assert.equal(refused.length, 10);
    for (const reason of refused) {
      assert.ok(failsWith('overloaded')(reason), String(reason));
      assert.equal((reason as SluiceError).options.retryAfter, 10);
    }
  });

  test('are forgotten when nothing has come for an hour, and there is an end to how many there are', async (context) => {
    let now = Date.now();
    const { open } = world(context, (modified) => now - modified);
    const names = await Promise.all(Array.from({ length: 100 }, () => open().begin(ABOUT)));
    await assert.rejects(open().begin(ABOUT), failsWith('overloaded'));
    await open().cancel(names[0] ?? '');
    await open().begin(ABOUT);
    now += 59 * 60_000;
    await assert.rejects(open().begin(ABOUT), failsWith('overloaded'));
    now += 2 * 60_000;
    await open().begin(ABOUT);
    await assert.rejects(open().received(names[1] ?? ''), failsWith('not_found'));
  });

  test('are not forgotten while pieces of them come, in whatever order the disk lists these', async (context) => {
    const { files, open } = world(context);
    const name = await open().begin(ABOUT);
    await open().append(name, 0, Buffer.from('one'));
    const found = (await Array.fromAsync(files.list(PIECES_FOLDER))).map((file) => ({
      ...file,
      modified: file.path.endsWith('about.json') ? 0 : 3_600_000,
    }));
    assert.equal(found.length, 2);
    for (const listed of [found, found.toReversed()]) {
      const disk = changed(files, {
        async *list() {
          yield* listed;
        },
      });
      const { underWay, removals } = await removeAbandoned(disk, (modified) => 3_600_001 - modified);
      assert.deepEqual([underWay, removals.end()], [[name], 0]);
    }
  });

  test('begin also where some were given up that cannot be removed', async (context) => {
    const { open } = world(context, () => 3_600_001);
    await open().begin(ABOUT);
    const stuck = open(UNREMOVABLE);
    assert.equal(await stuck.append(await stuck.begin(ABOUT), 0, Buffer.from('one')), 3);
  });
});
