import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { temporaryStores } from '../../test/support/stores.ts';
import { SluiceError } from '../core/errors.ts';
import type { BucketRecord, Records } from '../core/stores.ts';
import type { Conversion } from '../documents/conversion.ts';
import { Buckets } from './buckets.ts';
import type { Upload } from './intake.ts';

const TEXT: Conversion = { kind: 'text', text: 'hello' };

function world(
  context: TestContext,
  convert: (name: string, signal: AbortSignal) => Conversion | Promise<Conversion> = () => TEXT,
) {
  const { buckets: records, files } = temporaryStores(context);
  const open = (changed: Partial<Records<BucketRecord>> = {}) =>
    new Buckets({
      records: {
        get: (id) => records.get(id),
        put: (record) => records.put(record),
        putJson: (id, expires, json) => records.putJson(id, expires, json),
        update: (id, change) => records.update(id, change),
        delete: (id, only) => records.delete(id, only),
        prolong: (ids, lapsing, until) => records.prolong(ids, lapsing, until),
        forgetExpired: (now) => records.forgetExpired(now),
        deleteBetween: (from, end) => records.deleteBetween(from, end),
        ...changed,
      },
      files,
      converter: { convert: async ({ name }, { signal }) => convert(name, signal) },
      pages: { read: () => Promise.reject(new Error('not asked for')) },
      limits: () => ({ uploadBucketBytes: 1_000 }),
    });
  const kept = async () => (await Array.fromAsync(files.list('buckets'))).map(({ path }) => path);
  return { records, open, kept };
}

async function* uploads(...names: readonly string[]): AsyncIterable<Upload> {
  for (const filename of names) {
    yield {
      filename,
      mimeType: 'text/plain',
      body: (async function* () {
        yield Buffer.from('x');
      })(),
    };
  }
}

const NEVER = new AbortController().signal;

describe('an upload into a bucket', () => {
  test('whose end is unknown keeps its files, as the bucket may have them', async (context) => {
    const { records, open } = world(context);
    const silent = open({
      // As a disk that answers too late: what was asked of it happened all the same.
      update: async (id, change) => {
        await records.update(id, change);
        throw new SluiceError('storage_failed', 'The disk does not answer.');
      },
    });
    await assert.rejects(
      silent.add('a', () => uploads('a.txt'), NEVER),
      { code: 'storage_failed' },
    );
    const buckets = open();
    const texts = await Array.fromAsync(buckets.text(await buckets.get('a')));
    assert.equal(texts.length, 1);
    assert.match(texts[0] ?? '', /hello/);
  });

  test('leaves nothing behind where it fails otherwise', async (context) => {
    const { open, kept } = world(context, (name) => ({
      kind: 'text',
      text: name === 'b.txt' ? 'x'.repeat(1_000) : 'x',
    }));
    await assert.rejects(
      open().add('a', () => uploads('a.txt', 'b.txt'), NEVER),
      { code: 'too_large' },
    );
    assert.deepEqual(await kept(), []);
  });

  test('of an archive is its texts, those that were documents as markdown', async (context) => {
    const { open } = world(context, () => ({
      kind: 'archive',
      entries: [
        { kind: 'markdown', path: 'a/b.docx', text: 'document' },
        { kind: 'text', path: 'c.txt', text: 'text' },
      ],
      rejected: [],
    }));
    const { files } = await open().add('a', () => uploads('in.zip'), NEVER);
    assert.deepEqual(files, ['in.zip_a_b.docx.md', 'in.zip_c.txt']);
  });

  test('does not bring back a bucket that is deleted while it is written down', async (context) => {
    const { records, open, kept } = world(context);
    const buckets = open({
      async update(id, change) {
        await buckets.delete(id);
        return records.update(id, change);
      },
    });
    await assert.rejects(
      buckets.add('a', () => uploads('a.txt'), NEVER),
      { code: 'conflict' },
    );
    assert.equal(await records.get('a'), undefined);
    assert.deepEqual(await kept(), []);
  });

  test('is converted no further where its bucket is deleted, or its client leaves', {
    timeout: 30_000,
  }, async (context) => {
    const both = Promise.withResolvers<void>();
    let converting = 0;
    const { open, kept } = world(context, (_, signal) => {
      converting += 1;
      if (converting === 2) both.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const buckets = open();
    const client = new AbortController();
    // Heard from the beginning: the one may have failed long before the other bucket is deleted.
    const failed = Promise.all([
      assert.rejects(
        buckets.add('deleted', () => uploads('a.txt'), NEVER),
        { code: 'conflict' },
      ),
      assert.rejects(
        buckets.add('left', () => uploads('a.txt'), client.signal),
        /left/,
      ),
    ]);
    await both.promise;
    await buckets.delete('deleted');
    client.abort(new Error('left'));
    await failed;
    assert.deepEqual(await kept(), []);
  });

  test('is refused for a file beyond a limit only where nothing else was taken in', async (context) => {
    const { open } = world(context, (name) =>
      name === 'a.txt'
        ? TEXT
        : { kind: 'rejected', reason: 'is wrong', ...(name === 'bomb.txt' ? { isOverLimit: true } : {}) },
    );
    for (const [names, status] of [
      [['bomb.txt'], 422],
      [['wrong.txt', 'bomb.txt'], 422],
      [['bomb.txt', 'wrong.txt'], 422],
      [['bomb.txt', 'a.txt'], undefined],
      [['wrong.txt'], undefined],
    ] as const) {
      const failure = await open()
        .add('a', () => uploads(...names), NEVER)
        .then(
          () => undefined,
          (error: SluiceError) => error.status,
        );
      assert.equal(failure, status, names.join());
    }
  });
});

describe('a bucket on a disk without room', () => {
  const isFull = new SluiceError('storage_failed', 'The disk is full.');

  test('is deleted, or emptied by its reader: its bytes make the room that this needs', async (context) => {
    const { records, open, kept } = world(context);
    const hasRoom = async (): Promise<void> => {
      if ((await kept()).length > 0) throw isFull;
    };
    const full = open({
      delete: async (id, only) => {
        await hasRoom();
        return await records.delete(id, only);
      },
      update: async (id, change) => {
        await hasRoom();
        return await records.update(id, change);
      },
    });
    await open().add('deleted', () => uploads('a.txt', 'b.txt'), NEVER);
    assert.equal((await kept()).length, 2);
    assert.equal(await full.delete('deleted'), true);
    assert.equal(await full.delete('deleted'), false);
    await open().add('read', () => uploads('a.txt'), NEVER);
    await full.deleteFiles(await full.get('read'));
    for (const id of ['deleted', 'read']) assert.equal(await records.get(id), undefined, id);
    assert.deepEqual(await kept(), []);
  });

  test('stays as it is where its record fails for another reason', async (context) => {
    const { open, kept } = world(context);
    await open().add('a', () => uploads('a.txt'), NEVER);
    const broken = open({ delete: () => Promise.reject(new Error('a fault of ours')) });
    await assert.rejects(broken.delete('a'), /a fault of ours/);
    assert.equal((await kept()).length, 1);
  });
});
