import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WORLDS } from '../../test/contract/worlds.ts';
import type { BucketFile } from '../core/stores.ts';
import { sweepLeftovers } from './sweep.ts';

const HOUR = 60 * 60_000;
const file = (path: string): BucketFile => ({ name: path, kind: 'text', path, size: 1, mimeType: 'text/markdown' });

for (const [name, open] of WORLDS) {
  test(`what a killed upload left goes, what buckets hold and what is young stays: ${name}`, async (context) => {
    const { buckets, uploads, files } = (await open(context)).store;
    const all = [
      'uploads/a',
      'buckets/one/kept.md',
      'buckets/one/lost.md',
      'buckets/one/small.webp',
      'buckets/two/x.md',
      'sent/file-kept/original',
      'sent/file-kept/text.md',
      'sent/file-lost/original',
    ];
    for (const path of [...all, 'media/1_cat.png']) await files.write(path, [Buffer.from('x')]);
    await buckets.put({ id: 'one', files: [{ ...file('buckets/one/kept.md'), thumbnail: 'buckets/one/small.webp' }] });
    await uploads.add({
      id: 'file-kept',
      owner: null,
      name: 'x',
      mimeType: 'text/plain',
      purpose: 'user_data',
      size: 1,
      createdAt: 0,
      expires: null,
      path: 'sent/file-kept/original',
    });
    const left = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const folder of ['uploads', 'buckets', 'media', 'sent']) {
        for await (const { path } of files.list(folder)) found.push(path);
      }
      return found.sort();
    };
    // An upload may take many hours.
    assert.equal(await sweepLeftovers({ buckets, uploads, files, now: () => Date.now() + 23 * HOUR }), 0);
    assert.deepEqual(await left(), [...all, 'media/1_cat.png'].sort());
    assert.equal(await sweepLeftovers({ buckets, uploads, files, now: () => Date.now() + 25 * HOUR }), 4);
    assert.deepEqual(await left(), [
      'buckets/one/kept.md',
      'buckets/one/small.webp',
      'media/1_cat.png',
      'sent/file-kept/original',
      'sent/file-kept/text.md',
    ]);
  });
}
