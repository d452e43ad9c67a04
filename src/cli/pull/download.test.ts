import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { request } from 'undici';
import { temporaryFolder } from '../../../test/support/config-folder.ts';
import { plainServer } from '../../../test/support/plain-server.ts';
import { download } from './download.ts';
import { sourcesOf } from './source.ts';

const MODEL = Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(300_000, 'model')]);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Fetches `m.gguf` from a server that answers so. */
async function world(context: TestContext, listener: RequestListener) {
  const asked: { readonly url: string; readonly range: string | undefined; readonly authorization?: string }[] = [];
  const { url } = await plainServer(context, (incoming, response) => {
    const { authorization, range } = incoming.headers;
    asked.push({ url: incoming.url ?? '', range, ...(authorization === undefined ? {} : { authorization }) });
    listener(incoming, response);
  });
  const folder = temporaryFolder(context);
  const retries: string[] = [];
  const pull = () =>
    download(
      { url: new URL(`${url}/m.gguf`), file: 'm.gguf' },
      {
        folder,
        request: (address, options) => request(address, options),
        token: 'planted-token',
        progress: () => {},
        retrying: (reason) => retries.push(reason),
        pauseMs: 0,
      },
    );
  const file = path.join(folder, 'm.gguf');
  return { url, folder, file, asked, retries, pull };
}

/** As servers of files do: with ranges and a tag. */
function serve(bytes: Buffer, tag = '"one"', upTo = bytes.length): RequestListener {
  return ({ headers }, response) => {
    const from = headers['if-range'] === tag ? Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0) : 0;
    if (from >= bytes.length) {
      response.writeHead(416).end();
      return;
    }
    const range = from > 0 ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {};
    response.writeHead(from > 0 ? 206 : 200, { etag: tag, 'content-length': bytes.length - from, ...range });
    if (upTo <= from || upTo === bytes.length) response.end(bytes.subarray(from));
    else response.write(bytes.subarray(from, upTo), () => response.destroy());
  };
}

test('what breaks off is gone on with, and is whole in the end', async (context) => {
  let count = 0;
  const { file, folder, retries, pull } = await world(context, (incoming, response) => {
    count += 1;
    serve(MODEL, '"one"', count * 70_000)(incoming, response);
  });
  assert.equal(await pull(), MODEL.length);
  assert.deepEqual(readFileSync(file), MODEL);
  assert.deepEqual(readdirSync(folder), ['m.gguf']);
  assert.ok(retries.length === 4 && retries.every((reason) => /broke off/.test(reason)), String(retries));
});

test('what an earlier run left is gone on with, unless the file has changed since', async (context) => {
  const { url, file, folder, asked, pull } = await world(context, serve(MODEL));
  const leave = (etag: string, bytes: Buffer) => {
    writeFileSync(path.join(folder, '.m.gguf.part'), bytes);
    const about = { url: `${url}/m.gguf`, etag, total: MODEL.length };
    writeFileSync(path.join(folder, '.m.gguf.part.json'), JSON.stringify(about));
  };
  leave('"one"', MODEL.subarray(0, 1_000));
  assert.equal(await pull(), MODEL.length);
  assert.equal(asked.at(-1)?.range, 'bytes=1000-');
  assert.equal(await pull(), undefined, 'it is there');
  for (const [etag, bytes] of [
    ['"older"', Buffer.from('GGUF of another file')],
    ['"one"', MODEL],
  ] as const) {
    rmSync(file);
    leave(etag, bytes);
    assert.equal(await pull(), MODEL.length);
    assert.deepEqual(readFileSync(file), MODEL);
  }
});

test('where the bytes are on another host, no login goes there, and what was promised is held against them', async (context) => {
  let promised = sha256(MODEL);
  const { file, folder, asked, pull } = await world(context, (incoming, response) => {
    if (incoming.url !== '/m.gguf') return serve(MODEL)(incoming, response);
    response.writeHead(302, { location: '/bytes?signature=1', 'x-linked-etag': `"${promised}"` }).end();
  });
  assert.equal(await pull(), MODEL.length);
  assert.deepEqual(
    asked.map(({ url, authorization }) => [url, authorization]),
    [
      ['/m.gguf', undefined],
      ['/bytes?signature=1', undefined],
    ],
  );
  rmSync(file);
  promised = 'a'.repeat(64);
  await assert.rejects(pull, /not what its server promised \(SHA-256\)/);
  assert.ok(!existsSync(file) && !existsSync(path.join(folder, '.m.gguf.part')));
});

test('a page in place of a model is told before all of it has come', async (context) => {
  const { folder, pull } = await world(context, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.write('<!doctype html>');
  });
  await assert.rejects(pull, /is no model in the format GGUF/);
  assert.ok(!readdirSync(folder).includes('m.gguf'));
});

test('a server that fails is asked again, and not for ever; one that sends in a circle is not followed', async (context) => {
  let failures = 3;
  const { asked, retries, pull } = await world(context, (incoming, response) => {
    if (failures-- > 0) response.writeHead(503).end();
    else serve(MODEL)(incoming, response);
  });
  assert.equal(await pull(), MODEL.length);
  assert.deepEqual(retries, Array(3).fill('The server answers 503.'));
  assert.equal(asked.length, 4);
  const down = await world(context, (_, response) => response.writeHead(503).end());
  await assert.rejects(down.pull, /The server answers 503\. The same command goes on where this one ends\./);
  assert.equal(down.asked.length, 5);
  const circle = await world(context, (_, response) => response.writeHead(302, { location: '/m.gguf' }).end());
  await assert.rejects(circle.pull, /sends on in a circle/);
});

test('short names, places and addresses of pages lead to files, models in parts to all of them', () => {
  const addresses = (wish: string) => sourcesOf(wish).map(({ url, file }) => [url.href, file]);
  assert.deepEqual(addresses('Qwen3-0.6B'), [
    ['https://huggingface.co/Qwen/Qwen3-0.6B-GGUF/resolve/main/Qwen3-0.6B-Q8_0.gguf', 'Qwen3-0.6B-Q8_0.gguf'],
  ]);
  assert.deepEqual(addresses('a/b/sub/c.gguf'), [['https://huggingface.co/a/b/resolve/main/sub/c.gguf', 'c.gguf']]);
  assert.deepEqual(addresses('https://huggingface.co/a/b/blob/main/c.gguf?download=true#x'), [
    ['https://huggingface.co/a/b/resolve/main/c.gguf?download=true', 'c.gguf'],
  ]);
  assert.deepEqual(addresses('https://host.example/c%20d-00001-of-00002.gguf?k=1'), [
    ['https://host.example/c%20d-00001-of-00002.gguf?k=1', 'c d-00001-of-00002.gguf'],
    ['https://host.example/c%20d-00002-of-00002.gguf?k=1', 'c d-00002-of-00002.gguf'],
  ]);
  for (const wish of ['', 'x', 'https://host.example/c.bin', 'https://host.example/.gguf', 'ftp://host.example/c.gguf'])
    assert.throws(() => sourcesOf(wish), /names no model/, wish);
});
