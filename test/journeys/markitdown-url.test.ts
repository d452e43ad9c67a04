import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { forbiddenAddresses, startCanaries } from '../support/forbidden-addresses.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { HEARD, silence, startListeningUpstream } from '../support/listening-upstream.ts';
import { type Answer, ask } from '../support/raw-http.ts';
import {
  type Arrived,
  type ScriptedServer,
  type ServerScript,
  startScriptedServer,
} from '../support/scripted-server.ts';
import { assertError } from './edge-world.ts';

const SENTENCES = 'Turtles are reptiles with a shell. They live long, in water and on land. '.repeat(12);
const PAGE = `<html><head><title>About turtles</title></head><body><nav>Menu</nav>
<main><article><h1>About turtles</h1><p>${SENTENCES}<a href="/kinds?of=sea#all">Kinds</a></p></article></main></body></html>`;

function fixture(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/documents/${name}`, import.meta.url));
}

/** By path: the type and the bytes. */
const FILES: Readonly<Record<string, readonly [type: string | undefined, body: string | Buffer]>> = {
  '/page': ['text/html; charset=utf-8', PAGE],
  '/page.xhtml': ['application/xhtml+xml', PAGE],
  '/latin': ['text/plain; charset=iso-8859-1', Buffer.from('Gr\xfc\xdfe ', 'latin1')],
  '/notes.md': ['text/markdown', '# Notes\n'],
  '/v1.2/data': ['application/problem+json', '{"a":1}'],
  '/script.py': ['application/octet-stream', 'print(1)\n'],
  '/download': ['application/pdf', fixture('writer.pdf')],
  '/letter.docx': ['application/octet-stream', fixture('writer.docx')],
  '/table.csv': ['text/plain', fixture('calc.csv')],
  '/book.ipynb': ['text/plain; charset=utf-8', fixture('jupyter.ipynb')],
  '/mail': ['message/rfc822', fixture('mail.eml')],
  '/all.zip': [undefined, fixture('mixed.zip')],
  '/voice': ['audio/wav', silence()],
  '/picture.png': ['image/png', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
  '/program.exe': ['application/octet-stream', 'MZ'],
  '/no.pdf': ['application/pdf', 'no pdf'],
  '/empty': ['text/html', '<html><body><script>1</script></body></html>'],
  '/much': ['text/html', `<p>${'x'.repeat(5 * 1024 * 1024)}</p>`],
  '/large.txt': ['application/octet-stream', 'x'.repeat(3_000_000)],
};

const serve: ServerScript = ({ path }, response) => {
  const file = FILES[path];
  if (path === '/moved') response.writeHead(302, { location: '/page?from=moved' }).end();
  else if (path === '/inside') response.writeHead(302, { location: 'http://127.0.0.2:1/secret' }).end();
  else if (path === '/limited') response.writeHead(429, { 'retry-after': '9' }).end();
  else if (path === '/silent') response.flushHeaders();
  else if (file === undefined) response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not here</h1>');
  else response.writeHead(200, file[0] === undefined ? {} : { 'content-type': file[0] }).end(file[1]);
  return undefined;
};

/** 127.0.0.1 plays the public Internet, as everything else on this machine is private. */
const INTERNET = { isPublic: (address: string) => address === '127.0.0.1' };

describe('GET /markitdown/<url>', { timeout: 120_000 }, () => {
  let server: ScriptedServer;
  let listening: Awaited<ReturnType<typeof startListeningUpstream>>;
  let gateway: Gateway;
  before(async () => {
    server = await startScriptedServer(serve);
    listening = await startListeningUpstream();
    gateway = await startGateway(
      `
providers: { acme: { kind: openai, baseUrl: '${listening.baseUrl}', apiKey: key-of-acme } }
limits: { uploadFileBytes: 2000000, fetchMs: 5000 }
`,
      {},
      { internet: INTERNET },
    );
  });
  after(async () => {
    await gateway.close();
    await Promise.all([server.close(), listening.close()]);
  });

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
    ask(gateway.origin, { path: `/markitdown/${path}`, headers, method });
  const read = async (path: string): Promise<{ text: string; title: string; url: string }> => {
    const answer = await get(server.origin + path);
    assert.equal(answer.status, 200, answer.text.slice(0, 500));
    assert.equal(answer.headers['cache-control'], 'no-store');
    const json = answer.json as { text: string; title: string; url: string };
    assert.deepEqual(Object.keys(json).sort(), ['text', 'title', 'url']);
    return json;
  };
  const fetched = (): Arrived | undefined => server.requests.at(-1);

  test('a page: its main text, its title, and where it was', async () => {
    const { text, title, url } = await read('/page');
    assert.equal(title, 'About turtles');
    assert.match(text, /Turtles are reptiles/);
    assert.ok(text.includes(`[Kinds](${server.origin}/kinds?of=sea#all)`), text);
    assert.doesNotMatch(text, /Menu/);
    assert.equal(url, `${server.origin}/page`);
    assert.equal((await read('/moved')).url, `${server.origin}/page?from=moved`);
    assert.equal((await read('/page.xhtml')).title, 'About turtles');
  });

  test('the address is written out or percent-encoded, and keeps its query either way', async () => {
    const { origin } = server;
    for (const [path, query] of [
      [`${origin}/page?a=1&b=%2F%3F&c=x%20y`, 'a=1&b=%2F%3F&c=x%20y'],
      [`${origin.replace('http://', 'HTTP:/')}/page?a=1`, 'a=1'],
      [encodeURIComponent(`${origin}/page?a=1&b=%2F%3F`), 'a=1&b=%2F%3F'],
      [`${encodeURIComponent(`${origin}/page`)}?a=1&b=%2F`, 'a=1&b=%2F'],
      [`${encodeURIComponent(`${origin}/page?a=1`)}?b=2`, 'a=1&b=2'],
      [encodeURIComponent(`${origin}/page?a=1#part`), 'a=1'],
    ] as const) {
      const answer = await get(path);
      assert.equal(answer.status, 200, `${path} ${answer.text}`);
      assert.deepEqual(
        [fetched()?.path, fetched()?.query.toString()],
        ['/page', new URLSearchParams(query).toString()],
      );
    }
    // What is encoded within the address stays so.
    assert.equal((await get(`${origin}/a%2Fb%20c`)).status, 502);
    assert.equal(fetched()?.path, '/a%2Fb%20c');
  });

  for (const [path, text, title] of [
    ['/latin', /^Grüße$/, ''],
    ['/notes.md', /^# Notes$/, ''],
    ['/v1.2/data', /^\{"a":1\}$/, ''],
    ['/script.py', /^print\(1\)\n$/, ''],
    ['/download', /Turtle|Lorem|\w{3}/, undefined],
    ['/letter.docx', /\w{3}/, undefined],
    ['/table.csv', /^\|.*\|$/m, ''],
    ['/book.ipynb', /```python/, undefined],
    ['/mail', /^- From: Jürg Meier/m, undefined],
    ['/all.zip', /^## /m, ''],
    ['/voice', new RegExp(`^${HEARD.replace('?', '\\?')}$`), ''],
  ] as const) {
    test(`${path} is read like an uploaded file of its kind`, async () => {
      const told = await read(path);
      assert.match(told.text, text);
      if (title !== undefined) assert.equal(told.title, title);
      assert.equal(told.url, server.origin + path);
    });
  }

  test('the very words of an uploaded document', async () => {
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(fixture('writer.pdf'))]), 'a.pdf');
    const uploaded = await fetch(`${gateway.origin}/api/markitdown`, { method: 'POST', body });
    assert.equal((await read('/download')).text, ((await uploaded.json()) as { text: string }).text);
  });

  for (const [path, status, code] of [
    ['/picture.png', 415, 'unsupported_media_type'],
    ['/program.exe', 415, 'unsupported_media_type'],
    ['/no.pdf', 415, 'unsupported_media_type'],
    ['/empty', 502, 'upstream_invalid'],
    ['/much', 502, 'upstream_invalid'],
    ['/large.txt', 502, 'upstream_invalid'],
    ['/nothing-here', 502, 'upstream_failed'],
    ['/limited', 429, 'rate_limited'],
    ['/silent', 504, 'upstream_timeout'],
    ['/inside', 502, 'upstream_invalid'],
  ] as const) {
    test(`${path} is ${status} ${code}`, async () => {
      const answer = await get(server.origin + path);
      const error = assertError(answer, status, path);
      assert.equal(error.code, code, error.message);
      if (status === 415) assert.equal(error.param, 'url');
      if (status === 429) assert.equal(answer.headers['retry-after'], '9');
    });
  }

  test('what is no http(s) address without credentials: 400', async () => {
    const { host } = new URL(server.origin);
    const before = server.requests.length;
    for (const path of ['', 'no-address', host, 'ftp://a.example/', 'file:///etc/passwd', 'data:text/html,x']) {
      assert.equal(assertError(await get(path), 400, path).code, 'invalid_request');
      assert.equal(assertError(await get(encodeURIComponent(path)), 400, path).code, 'invalid_request');
    }
    assertError(await get(`http://me:secret@${host}/page`), 400);
    assertError(await get('%zz'), 400);
    assert.equal(server.requests.length, before);
  });

  test('nothing of the client goes there but the address', async () => {
    await get(`${server.origin}/page`, {
      cookie: 'own=1',
      authorization: 'Bearer key-of-the-client',
      'x-api-key': 'another-key',
      'x-forwarded-for': '10.0.0.1',
      referer: `${gateway.origin}/secret`,
    });
    const headers = Object.keys(fetched()?.headers ?? {}).sort();
    assert.deepEqual(headers, ['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
  });

  test('it stops as soon as its client leaves', async () => {
    const controller = new AbortController();
    const before = server.requests.length;
    const running = fetch(`${gateway.origin}/markitdown/${server.origin}/silent`, { signal: controller.signal });
    const left = assert.rejects(running, { name: 'AbortError' });
    await eventually('the page is asked for', () => server.requests.length > before);
    controller.abort();
    await left;
    assert.equal(await fetched()?.closed, 'aborted');
  });

  test('no other page makes it fetch, and HEAD does not either', async () => {
    const before = server.requests.length;
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    ]) {
      const answer = await get(`${server.origin}/page`, headers as Record<string, string>);
      assert.equal(assertError(answer, 403).code, 'forbidden');
    }
    for (const method of ['HEAD', 'POST', 'DELETE']) {
      const answer = await get(`${server.origin}/page`, {}, method);
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'GET'], method);
    }
    assert.equal(server.requests.length, before);
  });
});

test('nothing private is fetched, however it is written', async (context) => {
  const { ports, hits } = await startCanaries(context);
  const gateway = await startGateway('');
  context.after(() => gateway.close());
  for (const port of ports) {
    for (const address of forbiddenAddresses(port)) {
      const encoded = await ask(gateway.origin, { path: `/markitdown/${encodeURIComponent(address)}` });
      assert.ok([400, 502].includes(encoded.status), `${address}: ${encoded.status} ${encoded.text}`);
    }
    for (const path of [`http://127.0.0.1:${port}/x`, `http://localhost:${port}/x?y=1`, `http://[::1]:${port}/`]) {
      const error = assertError(await ask(gateway.origin, { path: `/markitdown/${path}` }), 400, path);
      assert.match(error.message, /does not lead to the public Internet/);
    }
  }
  // Not even itself.
  assertError(await ask(gateway.origin, { path: `/markitdown/${gateway.origin}/v1/models` }), 400);
  assert.deepEqual(hits, []);
});

test('where the server has an access key, it is asked for, and does not leave with the address', async (context) => {
  const server = await startScriptedServer(serve);
  context.after(() => server.close());
  const key = 'the-access-key-of-this-server';
  const gateway = await startGateway(`key: ${key}`, {}, { internet: INTERNET });
  context.after(() => gateway.close());
  const path = `/markitdown/${server.origin}/page`;
  assert.equal(assertError(await ask(gateway.origin, { path }), 401).code, 'unauthorized');
  assert.equal((await ask(gateway.origin, { path: `${path}?key=${key}` })).status, 303);
  assert.equal(server.requests.length, 0);
  const answer = await ask(gateway.origin, { path, headers: { authorization: `Bearer ${key}` } });
  assert.equal(answer.status, 200);
  assert.ok(!JSON.stringify(server.requests.map(({ headers }) => headers)).includes(key));
});
