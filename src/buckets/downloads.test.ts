import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { plainServer } from '../../test/support/plain-server.ts';
import { temporaryStores } from '../../test/support/stores.ts';
import { createConverter } from '../documents/converter.ts';
import { createGuardedFetch } from '../outbound/guarded-fetch.ts';
import { createPages } from '../outbound/pages.ts';
import type { BucketEvent } from './activity.ts';
import { Buckets, type Uploaded } from './buckets.ts';
import { addressesOf, download } from './downloads.ts';

const PAGE =
  '<html><head><title>Tides</title></head><body><article><p>High water is at noon, every day.</p></article></body></html>';

/** Buckets before a web of one server, which counts as public here. */
async function openWeb(context: TestContext) {
  const web = await plainServer(context, (request, response) => {
    if (request.url?.startsWith('/missing') === true) response.writeHead(404).end();
    else if (request.url === '/picture') response.writeHead(200, { 'content-type': 'image/png' }).end('x');
    else if (request.url === '/away') response.writeHead(302, { location: 'http://localhost:1/' }).end();
    else response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  });
  const stores = temporaryStores(context);
  const pages = createPages(createGuardedFetch({ isPublic: (address) => address === '127.0.0.1' }));
  const converter = createConverter();
  context.after(async () => {
    await pages.close();
    await converter.close();
  });
  const limits = () => ({ uploadBucketBytes: 1_000_000 });
  const buckets = new Buckets({ records: stores.buckets, files: stores.files, converter, pages, limits });
  const add = (list: unknown): Promise<Uploaded> =>
    buckets.add('b', () => uploads(JSON.stringify(list)), new AbortController().signal);
  return { buckets, add, origin: web.url, host: web.url.slice('http://'.length) };
}

async function* uploads(text: string) {
  const body = (async function* () {
    yield Buffer.from(text);
  })();
  yield { filename: 'Downloads.json', mimeType: 'application/json', body };
}

test('addresses become texts with their source, and watchers see them come', async (context) => {
  const { buckets, add, origin, host } = await openWeb(context);
  const events: BucketEvent[] = [];
  const adding = add([{ url: `${origin}/tide/table.html` }, { urls: [`${origin}/`, `${origin}/`] }]);
  const watching = (async () => {
    for await (const event of buckets.watch('b', new AbortController().signal)) events.push(event);
    for await (const event of buckets.events(await buckets.get('b'))) events.push(event);
  })();
  const { files, media, rejected } = await adding;
  await watching;
  const cleanHost = host.replace(':', '_');
  assert.deepEqual([files, media, rejected], [[`${cleanHost}+tide_table.html.md`, `${cleanHost}.md`], [], []]);
  let text = '';
  for await (const piece of buckets.text(await buckets.get('b'))) text += piece;
  assert.match(
    text,
    /High water is at noon, every day\.\n\nSource: http:\/\/127\.0\.0\.1:\d+\/tide\/table\.html\n<!-- End -->/,
  );
  const counts = events.flatMap((event) => (event.action === 'download' ? [event.count] : []));
  assert.ok(counts.includes(2), JSON.stringify(events));
  assert.equal(events.at(-1)?.action, 'done');
});

test('what cannot be had is told, and takes nothing else along', async (context) => {
  const { add, origin } = await openWeb(context);
  const urls = [`${origin}/missing`, `${origin}/picture`, `${origin}/away`, `${origin}/fine`, 'nonsense'];
  const { files, rejected } = await add([{ urls }]);
  assert.equal(files.length, 1);
  assert.deepEqual(
    rejected.map(({ name }) => name),
    [`${origin}/missing`, `${origin}/picture`, `${origin}/away`, 'nonsense'],
  );
  for (const { reason } of rejected) assert.ok(reason.length > 10 && !reason.includes('internal'), reason);
});

test('an address has 2048 characters at most', async (context) => {
  const { add, origin } = await openWeb(context);
  const longest = `${origin}/`.padEnd(2_048, 'x');
  const { files, rejected } = await add([{ urls: [`${longest}x`, longest] }]);
  assert.equal(files.length, 1);
  assert.deepEqual(rejected, [{ name: longest.slice(0, 255), reason: 'The address is too long.' }]);
});

test('a title stands above the text that has none', async () => {
  const told: Record<string, { title: string; text: string }> = {
    '/both': { title: 'Tides', text: '# High water\n\nAt noon.\n' },
    '/title': { title: 'Tides', text: '\nAt noon.\n' },
    '/none': { title: '', text: 'At noon.' },
  };
  const pages = {
    read: async (url: string) => ({ url, ...(told[new URL(url).pathname] ?? assert.fail(url)) }),
  };
  const addresses = Object.keys(told).map((path) => `https://a.example${path}`);
  const { downloaded } = await download(addresses, pages, new AbortController().signal, () => {});
  assert.deepEqual(downloaded, [
    { name: 'a.example+both.md', text: '# High water\n\nAt noon.\n\nSource: https://a.example/both\n' },
    { name: 'a.example+title.md', text: '# Tides\n\nAt noon.\n\nSource: https://a.example/title\n' },
    { name: 'a.example+none.md', text: 'At noon.\n\nSource: https://a.example/none\n' },
  ]);
});

test('at most ten are fetched', async (context) => {
  const { add, origin } = await openWeb(context);
  const { files, rejected } = await add(Array.from({ length: 12 }, (_, index) => ({ url: `${origin}/page${index}` })));
  assert.equal(files.length, 10);
  assert.deepEqual(
    rejected.map(({ name }) => name),
    [`${origin}/page10`, `${origin}/page11`],
  );
});

test('whoever leaves meanwhile gets no list of failures', async () => {
  const client = new AbortController();
  const pages = {
    async read(): Promise<never> {
      client.abort(new Error('gone'));
      throw new Error('broken off');
    },
  };
  await assert.rejects(
    download(['https://a.example/'], pages, client.signal, () => {}),
    /gone/,
  );
});

test('names that the web makes up stay names', async (context) => {
  const { add, origin } = await openWeb(context);
  const { files } = await add([
    { url: `${origin}/a/%2e%2e%2f%2e%2e%2fetc%2fpasswd` },
    { url: `${origin}/${'x'.repeat(300)}` },
  ]);
  for (const name of files) assert.match(name, /^[\w.,+-]{1,100}\.md$/);
});

test('only a list of addresses is one', () => {
  assert.deepEqual(addressesOf('[{"url":"http://a.example"},{"urls":["http://b.example"],"max_depth":2}]'), [
    'http://a.example',
    'http://b.example',
  ]);
  assert.deepEqual(addressesOf('[{"url":" http://a.example\\n"},{"url":"http://a.example"}]'), ['http://a.example']);
  // One wrong entry does not make the others a document.
  assert.deepEqual(addressesOf('[5, null, {"urls":"http://a.example"}, {"url":7}, [], {"url":"no address"}]'), [
    'http://a.example',
    'no address',
  ]);
  for (const text of [
    '',
    '{',
    '{}',
    '[]',
    '[1]',
    '[null]',
    '[{}]',
    '[{"url":1}]',
    '[{"urls":[{}]}]',
    '"x"',
    '{"url":"http://a.example"}',
  ])
    assert.equal(addressesOf(text), undefined, text);
});
