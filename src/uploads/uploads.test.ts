import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { temporaryStores } from '../../test/support/stores.ts';
import { SluiceError } from '../core/errors.ts';
import { collectBytes } from '../core/pieces.ts';
import type { UploadStore } from '../core/stores.ts';
import { uploadAddress, uploadIn } from '../core/upload-address.ts';
import { createConverter } from '../documents/converter.ts';
import { type UploadDeps, Uploads } from './uploads.ts';

const ABOUT = { name: 'a.txt', mimeType: 'text/plain', purpose: 'user_data' };
const ALL = { order: 'asc', limit: 100 } as const;
const isMissing = (error: unknown): boolean => error instanceof SluiceError && error.code === 'not_found';

function world(context: TestContext): UploadDeps {
  const { uploads: records, files } = temporaryStores(context);
  const converter = createConverter();
  context.after(() => converter.close());
  return { records, files, converter, owner: () => null };
}

/** A disk on which nothing can be written from some time on, until files are deleted. */
function fullOnceFilled(deps: UploadDeps): { readonly uploads: Uploads; fill(): void } {
  let isFull = false;
  const write = <T>(run: () => Promise<T>): Promise<T> =>
    isFull ? Promise.reject(new SluiceError('storage_failed', 'The disk is full.')) : run();
  const { files, records } = deps;
  return {
    fill: () => {
      isFull = true;
    },
    uploads: new Uploads({
      ...deps,
      files: {
        write: (path, body, options) => write(() => files.write(path, body, options)),
        stat: (path) => files.stat(path),
        open: (path, range) => files.open(path, range),
        list: (folder) => files.list(folder),
        delete: async (path) => {
          isFull = false;
          return files.delete(path);
        },
      },
      records: {
        add: (record) => write(() => records.add(record)),
        get: (id) => records.get(id),
        list: (query) => records.list(query),
        delete: (id) => write(() => records.delete(id)),
        expired: (at, limit) => records.expired(at, limit),
      },
    }),
  };
}

describe('files that were sent', () => {
  test('that expire are there again after a clock that jumped far ahead for a moment', async (context) => {
    const uploads = new Uploads(world(context));
    const { id } = await uploads.add({ ...ABOUT, bytes: Buffer.from('x'), expiresAfterMs: 3_600_000 });
    const later = Date.now() + 1_000 * 86_400_000;
    const jump = context.mock.method(Date, 'now', () => later);
    await uploads.add({ ...ABOUT, bytes: Buffer.from('y') });
    assert.equal((await uploads.list(ALL)).length, 1);
    await assert.rejects(uploads.get(id), isMissing);
    jump.mock.restore();
    const { body } = await uploads.open(await uploads.get(id));
    assert.equal((await collectBytes(body)).toString(), 'x');
  });

  test('are there, byte for byte, until they are deleted', async (context) => {
    const deps = world(context);
    const uploads = new Uploads(deps);
    const bytes = Buffer.from('Grüße\0');
    const record = await uploads.add({ ...ABOUT, bytes });
    assert.match(record.id, /^file-[0-9a-f]{48}$/);
    assert.deepEqual(await uploads.get(record.id), record);
    assert.deepEqual(await collectBytes((await uploads.open(record)).body), bytes);
    await uploads.delete(record.id);
    await assert.rejects(uploads.get(record.id), isMissing);
    await assert.rejects(uploads.open(record), isMissing);
    assert.equal(await deps.files.stat(record.path), undefined);
  });

  test('are deleted once, however many ask for it', async (context) => {
    const uploads = new Uploads(world(context));
    const { id } = await uploads.add({ ...ABOUT, bytes: Buffer.from('x') });
    const ends = await Promise.allSettled([uploads.delete(id), uploads.delete(id)]);
    assert.deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    for (const end of ends) if (end.status === 'rejected') assert.ok(isMissing(end.reason));
  });

  test('say what is in them, where they are documents', async (context) => {
    const deps = world(context);
    let count = 0;
    const converter: UploadDeps['converter'] = {
      convert: (...asked) => {
        count += 1;
        return deps.converter.convert(...asked);
      },
    };
    const uploads = new Uploads({ ...deps, converter });
    const html = await uploads.add({
      ...ABOUT,
      name: 'a.html',
      bytes: Buffer.from('<html><body><h1>Tides</h1><p>They <b>rise</b>.</p></body></html>'),
    });
    for (let round = 0; round < 3; round += 1)
      assert.match((await uploads.text(html)) ?? '', /^# Tides\s+They \*\*rise\*\*\./);
    assert.equal(count, 1);
    const unknown = await uploads.add({ ...ABOUT, name: 'a.bin', bytes: Buffer.from([0, 1, 2, 255]) });
    assert.equal(await uploads.text(unknown), undefined);
    await uploads.delete(html.id);
    const left: string[] = [];
    for await (const { path } of deps.files.list('sent')) left.push(path);
    assert.deepEqual(left, [unknown.path]);
  });

  test('leave no text behind when they are deleted while it is made, and need none on disk', async (context) => {
    const deps = world(context);
    const html = { ...ABOUT, name: 'a.html', bytes: Buffer.from('<html><body><h1>Tides</h1></body></html>') };
    const uploads: Uploads = new Uploads({
      ...deps,
      converter: {
        convert: async (...asked) => {
          const converted = await deps.converter.convert(...asked);
          await uploads.delete(deleted.id);
          return converted;
        },
      },
    });
    const deleted = await uploads.add(html);
    assert.match((await uploads.text(deleted)) ?? '', /Tides/);
    assert.deepEqual(await Array.fromAsync(deps.files.list('sent')), []);

    const full = fullOnceFilled(deps);
    const record = await full.uploads.add(html);
    full.fill();
    assert.match((await full.uploads.text(record)) ?? '', /Tides/);
  });

  test('are listed, and make room, where nothing can be written', async (context) => {
    let now = 1_000_000;
    const full = fullOnceFilled({ ...world(context), now: () => now });
    const kept = await full.uploads.add({ ...ABOUT, bytes: Buffer.from('x') });
    await full.uploads.add({ ...ABOUT, bytes: Buffer.from('y'), expiresAfterMs: 1_000 });
    now += 2_000;
    full.fill();
    assert.deepEqual(await full.uploads.list(ALL), [kept]);
    await full.uploads.delete(kept.id);
    assert.deepEqual(await full.uploads.list(ALL), []);
  });

  test('leave no bytes where they cannot be noted, unless they are noted all the same', async (context) => {
    const deps = world(context);
    const adding = (add: UploadStore['add']) => {
      const records: UploadStore = {
        add,
        get: (id) => deps.records.get(id),
        list: (query) => deps.records.list(query),
        delete: (id) => deps.records.delete(id),
        expired: (at, limit) => deps.records.expired(at, limit),
      };
      return new Uploads({ ...deps, records }).add({ ...ABOUT, bytes: Buffer.from('x') });
    };
    const isFull = new SluiceError('storage_failed', 'The disk is full.');
    const sent = async () => (await Array.fromAsync(deps.files.list('sent'))).map(({ path }) => path);
    await assert.rejects(
      adding(() => Promise.reject(isFull)),
      isFull,
    );
    assert.deepEqual(await sent(), []);
    let noted = '';
    // As a disk that answers too late: what was asked of it happened all the same.
    const late = adding(async (record) => {
      noted = record.path;
      await deps.records.add(record);
      throw isFull;
    });
    await assert.rejects(late, isFull);
    assert.deepEqual(await sent(), [noted]);
  });

  test('that have expired make room, too, where their records can only go then', async (context) => {
    const deps = world(context);
    const full = fullOnceFilled({ ...deps, now: () => 1_000 });
    const { id, path } = await full.uploads.add({ ...ABOUT, bytes: Buffer.from('x'), expiresAfterMs: -1 });
    full.fill();
    assert.deepEqual(await full.uploads.list(ALL), []);
    assert.equal(await deps.records.get(id), undefined);
    assert.equal(await deps.files.stat(path), undefined);
  });

  test('go when their time is over, with their bytes', async (context) => {
    let now = 1_000_000;
    const deps = { ...world(context), now: () => now };
    const uploads = new Uploads(deps);
    const short = await uploads.add({ ...ABOUT, bytes: Buffer.from('x'), expiresAfterMs: 1_000 });
    const long = await uploads.add({ ...ABOUT, bytes: Buffer.from('y'), expiresAfterMs: 5_000 });
    const kept = await uploads.add({ ...ABOUT, bytes: Buffer.from('z') });
    now += 999;
    assert.equal((await uploads.get(short.id)).id, short.id);
    now += 1;
    await assert.rejects(uploads.get(short.id), isMissing);
    await assert.rejects(uploads.delete(short.id), isMissing);
    assert.deepEqual(
      (await uploads.list(ALL)).map(({ id }) => id),
      [long.id, kept.id],
    );
    assert.equal(await deps.files.stat(short.path), undefined);
    assert.equal(await deps.records.get(short.id), undefined);
    now += 10_000_000;
    await uploads.add({ ...ABOUT, bytes: Buffer.from('next') });
    assert.equal(await deps.files.stat(long.path), undefined);
    assert.equal((await uploads.get(kept.id)).id, kept.id);
  });

  test('are seen by their owner only, those of a time without a key by everybody', async (context) => {
    let owner: string | null = null;
    const uploads = new Uploads({ ...world(context), owner: () => owner });
    const everybodys = await uploads.add({ ...ABOUT, bytes: Buffer.from('x') });
    owner = 'one';
    const own = await uploads.add({ ...ABOUT, bytes: Buffer.from('x') });
    const ids = async (): Promise<readonly string[]> => (await uploads.list(ALL)).map(({ id }) => id);
    assert.deepEqual(await ids(), [everybodys.id, own.id]);
    for (const other of ['two', null]) {
      owner = other;
      await assert.rejects(uploads.get(own.id), isMissing);
      await assert.rejects(uploads.delete(own.id), isMissing);
      await assert.rejects(uploads.list({ ...ALL, after: own.id }), isMissing);
      assert.deepEqual(await ids(), [everybodys.id]);
      assert.deepEqual(await uploads.get(everybodys.id), everybodys);
    }
    owner = 'one';
    assert.deepEqual(await uploads.get(own.id), own);
  });

  test('have addresses that nothing else has', () => {
    const id = `file-${'0a'.repeat(24)}`;
    assert.equal(uploadIn(uploadAddress(id)), id);
    assert.equal(uploadIn(`http://localhost:1337/v1/files/${id}/content`), id);
    for (const other of [
      `https://example.com/v1/files/${id}/content`,
      `http://localhost.example.com/v1/files/${id}/content`,
      `http://localhost@example.com/v1/files/${id}/content`,
      `/v1/files/${id}/content/x`,
      `/v1/files/${id}`,
      `x/v1/files/${id}/content`,
      '/v1/files/file-1/content',
    ]) {
      assert.equal(uploadIn(other), undefined, other);
    }
  });
});
