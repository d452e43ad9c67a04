import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WORLDS } from '../../test/contract/worlds.ts';
import type { BucketFile } from '../core/stores.ts';
import { sweepBuckets } from './sweep.ts';

const HOUR = 60 * 60_000;
const file = (path: string): BucketFile => ({ name: path, kind: 'text', path, size: 1, mimeType: 'text/markdown' });

for (const [name, open] of WORLDS) {
  test(`what a killed upload left goes, what buckets hold and what is young stays: ${name}`, async (context) => {
    const { buckets: records, files } = (await open(context)).store;
    const all = [
      'uploads/a',
      'buckets/one/kept.md',
      'buckets/one/lost.md',
      'buckets/one/small.webp',
      'buckets/two/x.md',
    ];
    for (const path of [...all, 'media/1_cat.png']) await files.write(path, [Buffer.from('x')]);
    await records.put({ id: 'one', files: [{ ...file('buckets/one/kept.md'), thumbnail: 'buckets/one/small.webp' }] });
    const left = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const folder of ['uploads', 'buckets', 'media']) {
        for await (const { path } of files.list(folder)) found.push(path);
      }
      return found.sort();
    };
    assert.equal(await sweepBuckets({ records, files }), 0);
    assert.deepEqual(await left(), [...all, 'media/1_cat.png'].sort());
    assert.equal(await sweepBuckets({ records, files, now: () => Date.now() + 2 * HOUR }), 3);
    assert.deepEqual(await left(), ['buckets/one/kept.md', 'buckets/one/small.webp', 'media/1_cat.png']);
  });
}
