import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import sharp from 'sharp';
import { ask } from '../support/raw-http.ts';
import { assertError } from './edge-world.ts';
import { png } from './kept-files-world.ts';
import { type KeptWorld, openKept, statusOf, told, upload } from './kept-world.ts';

describe('media of buckets', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());

  test('serves media with ranges, conditions and HEAD', async () => {
    const bytes = await png(800, 600);
    await upload(world, 'media', ['p.png', bytes, 'image/png']);
    const url = `${world.origin}/files/media/media/p.png`;
    const whole = await fetch(url);
    assert.equal(whole.status, 200);
    assert.deepEqual(Buffer.from(await whole.arrayBuffer()), bytes);
    const headers = Object.fromEntries(whole.headers);
    assert.equal(headers['content-type'], 'image/png');
    assert.equal(headers['content-disposition'], 'inline');
    assert.equal(headers['cache-control'], 'no-cache');
    assert.equal(headers['accept-ranges'], 'bytes');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.match(headers['content-security-policy'] ?? '', /sandbox/);
    const { etag = '', 'last-modified': modified = '' } = headers;

    const part = await fetch(url, { headers: { range: 'bytes=1-3' } });
    assert.deepEqual(
      [part.status, part.headers.get('content-range'), await part.text()],
      [206, `bytes 1-3/${bytes.length}`, 'PNG'],
    );
    // RFC 9110 §14.1: names of units are the same in capitals.
    const shouted = await fetch(url, { headers: { range: 'Bytes=1-3' } });
    assert.deepEqual([shouted.status, await shouted.text()], [206, 'PNG']);
    const tail = await fetch(url, { headers: { range: 'bytes=-4' } });
    assert.deepEqual([tail.status, Buffer.from(await tail.arrayBuffer())], [206, bytes.subarray(-4)]);
    for (const [range, first] of [
      ['bytes=-99999999', 0],
      ['bytes=10-99999999', 10],
    ] as const) {
      const cut = await fetch(url, { headers: { range } });
      assert.deepEqual(
        [cut.status, cut.headers.get('content-range'), Buffer.from(await cut.arrayBuffer())],
        [206, `bytes ${first}-${bytes.length - 1}/${bytes.length}`, bytes.subarray(first)],
      );
    }
    for (const condition of [etag, modified]) {
      const open = await fetch(url, { headers: { range: 'bytes=10-', 'if-range': condition } });
      assert.deepEqual([open.status, (await open.arrayBuffer()).byteLength], [206, bytes.length - 10]);
    }
    const changed = await fetch(url, { headers: { range: 'bytes=10-', 'if-range': '"other"' } });
    assert.deepEqual([changed.status, (await changed.arrayBuffer()).byteLength], [200, bytes.length]);
    const beyond = await fetch(url, { headers: { range: `bytes=${bytes.length}-` } });
    assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, `bytes */${bytes.length}`]);
    for (const range of ['bytes=0-0,2-3', 'lines=1-2', 'bytes=x-y'])
      assert.equal(await statusOf(url, { headers: { range } }), 200, range);

    for (const condition of [
      { 'if-none-match': etag },
      { 'if-none-match': `W/${etag}, "x"` },
      { 'if-modified-since': modified },
    ]) {
      // The length of no content is not that of the file (RFC 9110 §8.6).
      for (const method of ['GET', 'HEAD']) {
        const fresh = await fetch(url, { method, headers: condition });
        assert.deepEqual([fresh.status, fresh.headers.get('content-length'), await fresh.text()], [304, null, '']);
      }
    }
    assert.equal(await statusOf(url, { headers: { 'if-none-match': '"other"' } }), 200);
    const head = await fetch(url, { method: 'HEAD', headers: { range: 'bytes=1-3' } });
    assert.deepEqual(
      [head.status, head.headers.get('content-length'), await head.text()],
      [200, String(bytes.length), ''],
    );

    const small = await fetch(`${world.origin}/files/media/thumbnail/p.png`);
    const { width, height, format } = await sharp(Buffer.from(await small.arrayBuffer())).metadata();
    assert.deepEqual([small.headers.get('content-type'), width, height, format], ['image/webp', 400, 300, 'webp']);
    assert.equal(await statusOf(`${world.origin}/files/media/other/p.png`), 400);
  });

  test('no path leads from kept media to what is stored beside it', async () => {
    await upload(world, 'beside', ['p.png', await png(4, 4)]);
    const stored = readdirSync(path.join(world.folder, 'data/files/buckets/beside'));
    const name = stored.find((each) => each.endsWith('.png')) ?? assert.fail('the picture is stored');
    for (const route of ['media', 'images', 'thumbnail']) {
      for (const up of [
        '../',
        '..%2f',
        '%2e%2e/',
        '%2e%2e%2f',
        '..%5c',
        '%252e%252e%252f',
        'x/../../',
        'x%2f..%2f..%2f',
        './%2e%2e/',
      ]) {
        const beside = `/${route}/${up}buckets/beside/${name}`;
        assertError(await ask(world.origin, { path: beside }), [400, 404], beside);
      }
    }
  });

  test('kept media whose names are not of the form are not served, though they lie there', async () => {
    const folder = path.join(world.folder, 'data/files/media');
    mkdirSync(folder, { recursive: true });
    const bytes = await png(4, 4);
    const odd = ['~p.png', ' p.png', '(p.png', "'p.png", '.p.png', '%70.png', '$p.png', '\u007fp.png', 'p~.png'];
    for (const name of ['p.png', ...odd]) writeFileSync(path.join(folder, name), bytes);
    for (const route of ['media', 'images', 'thumbnail']) {
      assert.equal(await statusOf(`${world.origin}/${route}/p.png`), 200, route);
      for (const name of odd) {
        const at = `/${route}/${encodeURIComponent(name)}`;
        assertError(await ask(world.origin, { path: at }), [400, 404], at);
      }
    }
  });

  test('names of media are decoded once', async () => {
    const folder = path.join(world.folder, 'data/files/media');
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'once.png'), await png(4, 4));
    await upload(world, 'decoded', ['once.png', await png(4, 4)]);
    for (const base of ['media', 'images', 'thumbnail', 'files/decoded/media', 'files/decoded/thumbnail']) {
      for (const [spelled, expected] of [
        ['%6fnce%2epng', 200],
        ['%256fnce.png', 404],
        ['once%252epng', 404],
        ['%25256fnce.png', 404],
      ] as const) {
        const at = `/${base}/${spelled}`;
        const answer = await ask(world.origin, { path: at });
        if (expected === 200) assert.equal(answer.status, 200, at);
        else assertError(answer, [400, 404], at);
      }
    }
  });

  test('no query leads elsewhere', async () => {
    await upload(world, 'query', ['p.png', await png(4, 4)]);
    for (const route of [
      'files/query/media/none.png',
      'files/query/thumbnail/none.png',
      'media/none.png',
      'images/none.png',
      'thumbnail/none.png',
    ]) {
      const response = await fetch(`${world.origin}/${route}?url=http%3A%2F%2Fexample.com%2Fx.png`, {
        redirect: 'manual',
      });
      assert.equal(response.status, 404, route);
      assert.equal(response.headers.get('location'), null);
      assert.match((await told(response)).message, /^File not found/);
    }
  });
});
