import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { plainServer } from '../../test/support/plain-server.ts';
import { SluiceError } from '../core/errors.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import { createPages, decode, excerpt } from './pages.ts';
import { PageReader } from './pages-reader.ts';
import { textOfHtml } from './pages-text.ts';

const SENTENCES = 'Turtles are reptiles with a shell. They live long, in water and on land. '.repeat(12);
const ARTICLE = `<!doctype html><html lang="en"><head><title> About
  turtles </title><style>p { color: red }</style></head><body>
<nav><a href="/">Home</a><a href="/all">All animals</a></nav>
<main><article><h1>About turtles</h1>
<p>${SENTENCES}<a href="../order/Testudines_(order)">Testudines</a>, <a href="javascript:alert(1)">more</a></p>
<h2>Kinds</h2><ul><li>Sea turtle</li><li>Tortoise</li></ul>
<table><thead><tr><th>Name</th><th>Age</th></tr></thead><tbody><tr><td>Jonathan</td><td>190</td></tr></tbody></table>
<pre><code class="language-js">let age = 190;
age += 1;</code></pre><p>${SENTENCES}<img src="turtle.png" alt="A turtle"></p></article></main>
<footer>Imprint and privacy</footer><script>track()</script></body></html>`;

describe('text of a page', () => {
  test('keeps headings, lists, tables, code and links of the main text, and nothing around it', () => {
    const { title, text } = textOfHtml(ARTICLE, 'https://animals.example/turtles/about', true);
    assert.equal(title, 'About turtles');
    assert.match(text, /^#+ Kinds$/m);
    assert.match(text, /^- +Sea turtle$/m);
    assert.match(text, /^\| Jonathan \| 190 \|$/m);
    assert.match(text, /```js\nlet age = 190;\nage \+= 1;\n```/);
    assert.match(text, /\[Testudines\]\(https:\/\/animals\.example\/order\/Testudines_%28order%29\), more/);
    assert.doesNotMatch(text, /javascript:|Imprint|All animals|track|color: red|turtle\.png/);
  });

  test('links can be only their words', () => {
    const { text } = textOfHtml(ARTICLE, 'https://animals.example/turtles/about', false);
    assert.match(text, /Testudines, more/);
    assert.doesNotMatch(text, /https?:/);
  });

  test('relative links follow the base of the page', () => {
    const html = `<html><head><base href="/other/"></head><body><p>${SENTENCES}<a href="x">y</a></p></body></html>`;
    assert.match(textOfHtml(html, 'https://a.example/b/c', true).text, /\[y\]\(https:\/\/a\.example\/other\/x\)/);
  });

  test('a page that nests too deep is refused before it is read', () => {
    const html = `<html><body>${'<div>'.repeat(600)}text`;
    assert.throws(() => textOfHtml(html, 'https://a.example/', true), /deeper than 512 levels/);
  });

  test('pages without a main text, fragments, nothing', () => {
    const { text } = textOfHtml('<html><body><nav>menu</nav><p>Short <b>text</b>', 'https://a.example/', true);
    assert.equal(text, 'Short **text**');
    assert.equal(textOfHtml('<p>one<p>two', 'https://a.example/', true).text, 'one\n\ntwo');
    assert.equal(textOfHtml('', 'https://a.example/', true).text, '');
  });
});

describe('pages', () => {
  const fetch = createGuardedFetch({ isPublic: () => true });

  test('are fetched and read in a thread', async (context) => {
    const pages = createPages(fetch);
    context.after(() => pages.close());
    const { url } = await plainServer(context, (request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/turtles' }).end();
      else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(ARTICLE);
    });
    const page = await pages.read(url);
    assert.equal(page.url, `${url}/turtles`);
    assert.equal(page.title, 'About turtles');
    assert.match(page.text, /Turtles are reptiles/);
  });

  test('plain text and markdown are taken as they are, everything else is no page', async (context) => {
    const pages = createPages(fetch);
    const { url } = await plainServer(context, (request, response) => {
      response.writeHead(200, { 'content-type': decodeURIComponent(request.url?.slice(1) ?? '') }).end(' # Text \n');
    });
    assert.equal((await pages.read(`${url}/text%2Fplain`)).text, '# Text');
    assert.equal((await pages.read(`${url}/text%2Fmarkdown`)).text, '# Text');
    for (const type of ['application%2Fpdf', 'image%2Fpng', 'application%2Fjson']) {
      await assert.rejects(pages.read(`${url}/${type}`), /not what is wanted/);
    }
  });

  test('a page that takes too long fails alone; the next one is read', async (context) => {
    const pages = createPages(fetch, new PageReader(2_000));
    context.after(() => pages.close());
    const slow = `<html><body>${'<div>'.repeat(500)}${'harbour '.repeat(125_000)}</body></html>`;
    const { url } = await plainServer(context, (request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(request.url === '/slow' ? slow : ARTICLE);
    });
    const results = await Promise.allSettled([pages.read(`${url}/slow`), pages.read(url), pages.read(url)]);
    const [first] = results;
    assert.ok(first?.status === 'rejected' && first.reason instanceof SluiceError, 'the slow page fails');
    assert.match(first.reason.message, /took longer/);
    assert.deepEqual(
      results.slice(1).map(({ status }) => status),
      ['fulfilled', 'fulfilled'],
    );
  });

  test('who gives up is told at once, and closing fails what waits', async (context) => {
    const reader = new PageReader();
    context.after(() => reader.close());
    const task = { html: ARTICLE, address: 'https://a.example/', keepsLinks: true };
    const controller = new AbortController();
    const reading = [reader.read(task), reader.read(task, controller.signal), reader.read(task)];
    const reason = new SluiceError('cancelled', 'gone');
    controller.abort(reason);
    await assert.rejects(reading[1] ?? Promise.resolve(), reason);
    await reading[0];
    await reader.close();
    await assert.rejects(reading[2] ?? Promise.resolve(), /stopping/);
  });

  test('whoever has left already reads nothing, and nobody listens to a signal for longer than it matters', async (context) => {
    const reader = new PageReader();
    context.after(() => reader.close());
    const task = { html: ARTICLE, address: 'https://a.example/', keepsLinks: true };
    const reason = new SluiceError('cancelled', 'gone');
    await assert.rejects(reader.read(task, AbortSignal.abort(reason)), reason);
    const { signal } = new AbortController();
    await Promise.all([reader.read(task, signal), reader.read(task, signal)]);
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });
});

describe('bytes of a page → text', () => {
  const latin1 = Buffer.from('<meta charset="iso-8859-1">caf\xe9', 'latin1');
  test('header, meta element, byte order mark, UTF-8', () => {
    assert.match(decode(latin1, 'text/html'), /café/);
    assert.match(decode(Buffer.from('café'), 'text/html'), /café/);
    assert.match(decode(Buffer.from('caf\xe9', 'latin1'), 'text/html; charset="windows-1252"'), /café/);
    assert.equal(decode(Buffer.from('\ufeffcafé', 'utf16le'), 'text/html; charset=utf-8'), 'café');
    assert.equal(decode(Buffer.from('\ufeffcafé'), 'text/html; charset=latin1'), 'café');
    assert.equal(decode(Buffer.from('x'), 'text/html; charset=no-such-thing'), 'x');
  });
});

describe('excerpt', () => {
  test('counts words, and characters where there are none', () => {
    assert.equal(excerpt('one two\n\nthree', 3), 'one two\n\nthree');
    assert.equal(excerpt('one two\n\nthree four', 3), 'one two\n\nthree …');
    assert.equal(excerpt('', 3), '');
    assert.equal(excerpt('字'.repeat(100), 3), `${'字'.repeat(36)} …`);
    assert.equal(excerpt(`a${'😀'.repeat(100)}`, 1), `a${'😀'.repeat(5)} …`);
  });
});
