import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../support/config-folder.ts';
import { plainServer } from '../support/plain-server.ts';
import { runSluice, startSluice } from '../support/run-sluice.ts';
import { makeTinyGguf, TINY_ANSWER } from '../support/tiny-gguf.ts';

const MODEL = makeTinyGguf();

/** A server of files, and a folder for Sluice. */
async function open(context: TestContext) {
  const { url, port } = await plainServer(context, ({ url: asked = '' }, response) => {
    if (!asked.endsWith('/tiny.gguf')) response.writeHead(asked.includes('secret') ? 403 : 404).end('no');
    else response.writeHead(200, { 'content-length': MODEL.length, etag: '"1"' }).end(MODEL);
  });
  const folder = temporaryFolder(context);
  const pull = (...words: readonly string[]) => runSluice(context, ['pull', ...words], { folder });
  return { url, port, folder, models: path.join(folder, 'models'), pull };
}

test('a model is fetched, offered by a Sluice that is running, and answers', { timeout: 120_000 }, async (context) => {
  const { url, folder, models, pull } = await open(context);
  writeFileSync(path.join(folder, 'sluice.yaml'), 'detectLocal: false\n');
  const running = startSluice(context, ['--bind', '127.0.0.1:0'], { folder });
  const [, address = ''] = await running.said(/Page +(\S+)\//);
  const { code, stdout, stderr } = await pull(`${url}/some/tiny.gguf`);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^tiny\.gguf: 0 of 0 MB, 0 %.*\n(.*\n)*tiny\.gguf is whole\.\n/);
  assert.ok(stdout.endsWith(`It is in ${models}. Sluice offers it as embedded/tiny, at once where it is running.\n`));
  assert.deepEqual(readdirSync(models), ['tiny.gguf']);
  assert.deepEqual(readFileSync(path.join(models, 'tiny.gguf')), MODEL);
  const answer = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'embedded/tiny', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  assert.ok((await answer.text()).includes(JSON.stringify(TINY_ANSWER)));
});

test('what is there already stays as it is', async (context) => {
  const { url, models, pull } = await open(context);
  mkdirSync(models);
  writeFileSync(path.join(models, 'tiny.gguf'), 'mine');
  const { code, stdout } = await pull(`${url}/tiny.gguf`);
  assert.equal(code, 0);
  assert.match(stdout, /^tiny\.gguf is there already\.\n/);
  assert.equal(readFileSync(path.join(models, 'tiny.gguf'), 'utf8'), 'mine');
});

test('what is no model, is not there or is not for everybody is told, and leaves nothing', async (context) => {
  const { url, folder, models, pull } = await open(context);
  const cases: readonly (readonly [wish: string, code: number, message: RegExp])[] = [
    [`${url}/other.gguf`, 1, /^sluice: There is no such file at http:\S+\/other\.gguf \(404\)\.\n$/],
    [`${url}/secret.gguf`, 1, /^sluice: http:\S+ is not for everybody \(403\)\.\n$/],
    [
      'no-such-name',
      2,
      /^sluice: 'no-such-name' names no model; allowed: qwen3-0\.6b, smollm2-360m, maker\/folder\/file\.gguf/,
    ],
    ['file:///etc/x.gguf', 2, /names no model/],
    [`${url}/..%2f..%2fx.gguf`, 2, /names no model/],
    ['http://user:word@127.0.0.1/x.gguf', 2, /names no model/],
  ];
  for (const [wish, code, message] of cases) {
    const ended = await pull(wish);
    assert.equal(ended.code, code, wish);
    assert.match(ended.stderr, message);
  }
  assert.ok(!existsSync(models) || readdirSync(models).length === 0);
  assert.equal((await runSluice(context, ['pull'], { folder })).code, 2);
});

test('what there is no room for is told at once, whatever else would come', { timeout: 60_000 }, async (context) => {
  const { url } = await plainServer(context, (_asked, response) => {
    response.writeHead(200, { 'content-length': Number.MAX_SAFE_INTEGER, etag: '"1"' }).write(MODEL);
  });
  const { code, stderr } = await runSluice(context, ['pull', `${url}/huge.gguf`], { folder: temporaryFolder(context) });
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^sluice: There is no room in \S+: 9007199254740991 bytes are needed, \d+ are free\.\n$/);
});
