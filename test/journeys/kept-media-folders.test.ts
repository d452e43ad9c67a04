import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { picture } from '../support/pictures.ts';
import { openKept, statusOf } from './kept-world.ts';

test('a name may have slashes, plain or encoded; a search looks at what lies in no folder', {
  timeout: 60_000,
}, async (context) => {
  const world = await openKept();
  context.after(() => world.close());
  const bytes = await picture('#445566');
  const media = path.join(world.folder, 'data/files/media');
  mkdirSync(path.join(media, '2026/may'), { recursive: true });
  // Before the first search, which reads what there is.
  writeFileSync(path.join(media, '2026/may/nested-harbour.png'), bytes);
  writeFileSync(path.join(media, 'plain-harbour.png'), bytes);
  for (const route of ['media', 'images', 'thumbnail']) {
    for (const name of ['2026/may/nested-harbour.png', '2026%2Fmay%2fnested-harbour.png']) {
      const response = await fetch(`${world.origin}/${route}/${name}`);
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes, `${route}/${name}`);
      assert.equal(response.headers.get('content-type'), 'image/png');
    }
    for (const name of ['2026', '2026/may', '2026/may/', '2026//may/nested-harbour.png', 'may/nested-harbour.png'])
      assert.equal(await statusOf(`${world.origin}/${route}/${name}`), 404, `${route}/${name}`);
  }
  const search = (terms: string): Promise<Response> => fetch(`${world.origin}/search/${terms}`, { redirect: 'manual' });
  assert.equal((await search('harbour')).headers.get('location'), '/media/plain-harbour.png');
  for (const terms of ['nested', 'harbour?skip=1']) assert.equal((await search(terms)).status, 404, terms);
});
