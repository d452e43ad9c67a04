import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { slowUpload } from './kept-files-world.ts';
import { at, filesBelow, form, type KeptWorld, openKept, pick, told } from './kept-world.ts';

describe('limits of uploads', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept(
      'limits: { uploadFileBytes: 2048, uploadRequestBytes: 8192, uploadBucketBytes: 5000, uploadParts: 4, uploadNameBytes: 64 }',
    );
  });
  after(() => world.close());

  const post = (id: string, ...files: Parameters<typeof form>[0]) =>
    told(fetch(at(world, `files/${id}`), { method: 'POST', body: form(files) }));

  test('a file, a request and a bucket can be too large', async () => {
    // Which of the limits it was: each of them would be met by the next one too, only later.
    const assertRefused = (refused: Awaited<ReturnType<typeof post>>, words: RegExp): void => {
      assert.deepEqual(pick(refused), [413, 'too_large']);
      assert.match(refused.message, words);
    };
    assertRefused(await post('large', ['a.txt', 'a'.repeat(2049)]), /The file is larger than 2048 bytes/);
    assertRefused(await post('large', ['a.txt', 'a'], ['b.txt', 'b'.repeat(2049)]), /file is larger than 2048 bytes/);
    const many = ['1', '2', '3', '4'].map((name) => [`${name}.txt`, name.repeat(2040)] as const);
    assertRefused(await post('large', ...many), /The request is larger than 8192 bytes/);
    assert.equal((await told(fetch(at(world, 'files/large')))).status, 404);
    assert.equal((await post('large', ['a.txt', 'a'.repeat(2000)], ['b.txt', 'b'.repeat(2000)])).status, 200);
    assertRefused(await post('large', ['c.txt', 'c'.repeat(2000)]), /A bucket holds at most 5000 bytes/);
    const text = await (await fetch(at(world, 'files/large'))).text();
    assert.ok(text.includes('bbbb') && !text.includes('cccc'));
    assert.equal(filesBelow(world, path.join('buckets', 'large')).length, 2);
    assert.deepEqual(filesBelow(world, 'uploads'), []);
  });

  test('an upload into a bucket that holds no more is refused with the first file beyond, not with the last', async () => {
    assert.equal((await post('full', ['a.txt', 'a'.repeat(2000)], ['b.txt', 'b'.repeat(2000)])).status, 200);
    for (const pieces of [['c'.repeat(2000)], ['c'.repeat(600), 'd'.repeat(600)]]) {
      const slow = slowUpload(at(world, 'files/full'));
      for (const piece of pieces) slow.part('c.txt', piece);
      slow.begin('endless.txt');
      assert.equal(await slow.answered, 413);
      assert.equal(filesBelow(world, path.join('buckets', 'full')).length, 2);
      assert.deepEqual(filesBelow(world, 'uploads'), []);
    }
  });

  test('uploads at the same time do not fill a bucket beyond its limit', async () => {
    const statuses = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map(
        async (name) => (await post('together', [`${name}.txt`, name.repeat(2000)])).status,
      ),
    );
    assert.equal(statuses.filter((status) => status === 200).length, 2, String(statuses));
    assert.equal(statuses.filter((status) => status === 413).length, 3, String(statuses));
    assert.equal(filesBelow(world, path.join('buckets', 'together')).length, 2);
  });

  test('too many parts and too long names are refused', async () => {
    const parts = ['1', '2', '3', '4', '5'].map((name) => [`${name}.txt`, name] as const);
    assert.equal((await post('parts', ...parts)).status, 400);
    assert.equal((await post('parts', [`${'n'.repeat(80)}.txt`, 'x'])).status, 400);
    // Bytes are what counts, not letters: 64 of them fit, and not one more.
    assert.equal((await post('parts', [`${'ü'.repeat(30)}n.txt`, 'x'])).status, 400);
    assert.equal((await told(fetch(at(world, 'files/parts')))).status, 404);
    assert.equal((await post('parts', [`${'ü'.repeat(30)}.txt`, 'x'])).status, 200);
  });
});
