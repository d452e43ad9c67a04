import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { describe, test } from 'node:test';
import { bytesInUse } from '../../test/support/bytes-in-use.ts';
import { eventually } from '../../test/support/eventually.ts';
import { plainServer } from '../../test/support/plain-server.ts';
import { SluiceError } from '../core/errors.ts';
import { createGuardedFetch } from '../outbound/guarded-fetch.ts';
import type { Page, Pages } from '../outbound/pages.ts';
import { cleanResults } from './clean.ts';
import { defaultSearch, resolveSearch, type SearchConfig, type SearchEngineId } from './config.ts';
import { createWebSearch } from './search.ts';

const QUERY = 'how long do giant tortoises live';
const JONATHAN = 'https://en.wikipedia.org/wiki/Jonathan_(tortoise)';

/** Pages that need no network; addresses that are not in it cannot be read. */
function pagesOf(texts: Readonly<Record<string, string>>): Pick<Pages, 'read'> & { readonly asked: readonly string[] } {
  const asked: string[] = [];
  return {
    asked,
    async read(address): Promise<Page> {
      asked.push(address);
      const text = texts[address];
      if (text === undefined) throw new SluiceError('upstream_failed', 'no such page');
      return { url: address, title: '', text };
    },
  };
}

interface Seen {
  readonly method: string | undefined;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** A search service at the far end. */
async function service(context: { after(done: () => void): void }, answer: RequestListener) {
  const seen: Seen[] = [];
  const { url } = await plainServer(context, async (request, response) => {
    let body = '';
    for await (const bytes of request) body += bytes;
    const { method, headers } = request;
    seen.push({ method, url: request.url ?? '', headers, body: body === '' ? undefined : JSON.parse(body) });
    answer(request, response);
  });
  return { url, seen };
}

const fixture = (engine: SearchEngineId): RequestListener => {
  const bytes = readFileSync(new URL(`../../test/fixtures/search/${engine}.json`, import.meta.url));
  return (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(bytes);
};

function searchOn(config: Partial<SearchConfig>, pages: Pick<Pages, 'read'> = pagesOf({})) {
  const full = { targets: [], ...defaultSearch, ...config };
  return createWebSearch({ fetch: createGuardedFetch(), pages, config: () => full });
}

describe('engines', () => {
  const expected: Record<SearchEngineId, { method: string; url: string; header?: [string, string]; body?: unknown }> = {
    searxng: { method: 'GET', url: '/search?q=how+long+do+giant+tortoises+live&format=json' },
    brave: {
      method: 'GET',
      url: '/res/v1/web/search?q=how+long+do+giant+tortoises+live&count=5&result_filter=web&text_decorations=false',
      header: ['x-subscription-token', 'the-key'],
    },
    tavily: {
      method: 'POST',
      url: '/search',
      header: ['authorization', 'Bearer the-key'],
      body: { query: QUERY, max_results: 5, search_depth: 'basic' },
    },
    exa: {
      method: 'POST',
      url: '/search',
      header: ['x-api-key', 'the-key'],
      body: { query: QUERY, numResults: 5, contents: { text: { maxCharacters: 6000 } } },
    },
    wikipedia: { method: 'GET', url: '/w/rest.php/v1/search/page?q=how+long+do+giant+tortoises+live&limit=5' },
  };
  for (const [id, { method, url: path, header, body }] of Object.entries(expected)) {
    test(`${id}: is asked and understood`, async (context) => {
      const engine = id as SearchEngineId;
      const { url, seen } = await service(context, fixture(engine));
      const pages = pagesOf({});
      const results = await searchOn({ targets: [{ engine, url, apiKey: 'the-key' }] }, pages).search(QUERY);
      const [request] = seen;
      assert.ok(request !== undefined && seen.length === 1);
      assert.deepEqual({ method: request.method, url: request.url }, { method, url: path });
      if (header !== undefined) assert.equal(request.headers[header[0]], header[1]);
      assert.deepEqual(request.body, body);
      assert.equal(results.length, 2);
      const [first, second] = results;
      assert.match(first?.title ?? '', /^Jonathan \(tortoise\)/);
      assert.match(first?.url ?? '', /\/wiki\/Jonathan_(\(|%28)tortoise/);
      assert.match(first?.snippet ?? '', /hatched c\. 1832\) is a Seychelles giant tortoise (and|&) the oldest/);
      assert.match(second?.title ?? '', /^(Aldabra tortoise \| Smithsonian's|Aldabra giant)/);
      assert.equal(first?.text !== undefined, engine === 'exa');
      // What came with its text is not read once more.
      assert.equal(pages.asked.length, engine === 'exa' ? 0 : 2);
    });
  }

  test('a page that Exa has no text of is read', async (context) => {
    const [first, second] = [JONATHAN, 'https://a.example/'].map((address) => ({ title: 'A', url: address }));
    const answer = JSON.stringify({ results: [{ ...first, text: '' }, second] });
    const { url } = await service(context, (_request, response) => response.end(answer));
    const pages = pagesOf({ [JONATHAN]: 'He hatched.' });
    const results = await searchOn({ targets: [{ engine: 'exa', url, apiKey: 'the-key' }] }, pages).search(QUERY);
    assert.deepEqual(pages.asked, [first?.url, second?.url]);
    assert.equal(results[0]?.text, 'He hatched.');
  });

  test('Wikipedia: a page whose name is no text does not hide the others', async (context) => {
    const { url } = await service(context, (_request, response) => {
      const pages = '[{"key":"\\ud800","title":"Half"},{"key":"Jonathan","title":"Jonathan"}]';
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"pages":${pages}}`);
    });
    const found = await searchOn({ targets: [{ engine: 'wikipedia', url }], pages: 0 }).search(QUERY);
    assert.deepEqual(
      found.map((each) => each.url),
      [`${url}/wiki/%EF%BF%BD`, `${url}/wiki/Jonathan`],
    );
  });

  test('Tavily works without a key', async (context) => {
    const { url, seen } = await service(context, fixture('tavily'));
    await searchOn({ targets: [{ engine: 'tavily', url }] }).search(QUERY);
    assert.equal(seen[0]?.headers['x-tavily-access-mode'], 'keyless');
    assert.equal(seen[0]?.headers.authorization, undefined);
  });
});

describe('web search', () => {
  test('reads the first pages; one that cannot be had keeps its snippet; words are shared out', async (context) => {
    const { url } = await service(context, fixture('tavily'));
    const pages = pagesOf({ [JONATHAN]: 'word '.repeat(100) });
    const search = searchOn({ targets: [{ engine: 'tavily', url }], pages: 2, words: 20 }, pages);
    const [first, second] = await search.search(QUERY);
    assert.equal(first?.text, `${'word '.repeat(20).trim()} …`);
    assert.equal(second?.text, undefined);
    assert.match(second?.snippet ?? '', /difficult to determine/);
    assert.deepEqual(pages.asked, [JONATHAN, 'https://nationalzoo.si.edu/animals/aldabra-tortoise']);
    const one = pagesOf({});
    await searchOn({ targets: [{ engine: 'tavily', url }], pages: 1 }, one).search(QUERY);
    assert.deepEqual(one.asked, [JONATHAN]);
  });

  test('what is remembered does not hold on to the pages that it was cut from', async (context) => {
    const { url } = await service(context, fixture('tavily'));
    const pages: Pick<Pages, 'read'> = {
      read: async (address) => ({ url: address, title: '', text: Buffer.alloc(2_000_000, 'word ').toString() }),
    };
    const search = searchOn({ targets: [{ engine: 'tavily', url }], pages: 1 }, pages);
    await search.search(QUERY);
    const before = bytesInUse();
    for (let index = 0; index < 20; index += 1) await search.search(`${QUERY} ${index}`);
    await eventually('the 40 MB of the pages are gone', () => bytesInUse() - before < 10_000_000);
  });

  test('asks the engine that is wanted, if it is one of the configured ones', async (context) => {
    const first = await service(context, fixture('tavily'));
    const second = await service(context, fixture('wikipedia'));
    const targets = [
      { engine: 'tavily', url: first.url },
      { engine: 'wikipedia', url: second.url },
    ] as const;
    const search = searchOn({ targets });
    await search.search(QUERY, { engine: 'wikipedia' });
    assert.deepEqual([first.seen.length, second.seen.length], [0, 1]);
    for (const engine of ['auto', 'nobody', 'exa']) await search.search(`${QUERY} ${engine}`, { engine });
    assert.deepEqual([first.seen.length, second.seen.length], [3, 1]);
  });

  test('pages that do not come in time count with their snippet, and are read the next time', async (context) => {
    const { url, seen } = await service(context, fixture('tavily'));
    const allowed: number[] = [];
    const pages: Pick<Pages, 'read'> = {
      async read(address, options): Promise<Page> {
        const ms = options?.totalMs ?? 0;
        allowed.push(ms);
        if (ms > 5_000) return { url: address, title: '', text: 'The page' };
        await new Promise((resolve) => setTimeout(resolve, ms + 20));
        throw new SluiceError('upstream_timeout', 'too late');
      },
    };
    const search = searchOn({ targets: [{ engine: 'tavily', url }], pages: 1 }, pages);
    const [late] = await search.search(QUERY, { totalMs: 4_000 });
    assert.equal(late?.text, undefined);
    assert.match(late?.snippet ?? '', /giant tortoise/);
    assert.ok((allowed[0] ?? 0) <= 4_000);
    const [whole] = await search.search(QUERY);
    assert.equal(whole?.text, 'The page');
    assert.equal(seen.length, 2);
  });

  test('remembers what was found, per query and settings, but no failure and no empty answer', async (context) => {
    let round = 0;
    const { url, seen } = await service(context, (request, response) => {
      round += 1;
      if (round === 1) response.writeHead(500).end();
      else if (round === 2) response.end('{"results":[]}');
      else fixture('tavily')(request, response);
    });
    const search = searchOn({ targets: [{ engine: 'tavily', url }] });
    await assert.rejects(search.search(QUERY));
    assert.deepEqual(await search.search(QUERY), []);
    const found = await search.search(QUERY);
    assert.equal(await search.search(`  ${QUERY}\n`), found);
    assert.equal(seen.length, 3);
    await search.search(QUERY, { results: 1 });
    await search.search('another');
    assert.equal(seen.length, 5);
  });

  test('asks the next engine when one fails, and tells the last failure', async (context) => {
    const broken = await service(context, (_request, response) => response.writeHead(432).end('{}'));
    const good = await service(context, fixture('wikipedia'));
    const targets = [
      { engine: 'tavily', url: broken.url },
      { engine: 'wikipedia', url: good.url },
    ] as const;
    assert.equal((await searchOn({ targets }).search(QUERY)).length, 2);
    await assert.rejects(searchOn({ targets: targets.slice(0, 1) }).search(QUERY), {
      message: 'Tavily could not be asked: it allows no more searches for now (432).',
    });
  });

  test('failures name the engine and no key', async (context) => {
    const answers: Record<string, RequestListener> = {
      'refused the key (401)': (_request, response) => response.writeHead(401).end(),
      'answered 500': (_request, response) => response.writeHead(500).end(),
      'did not answer with JSON': (_request, response) => response.end('<html>'),
      'redirects; no more than 0 are followed': (_request, response) =>
        response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    };
    for (const [words, answer] of Object.entries(answers)) {
      const { url } = await service(context, answer);
      await assert.rejects(
        searchOn({ targets: [{ engine: 'brave', url, apiKey: 'the-key' }] }).search(QUERY),
        (error) => {
          assert.ok(error instanceof SluiceError);
          assert.match(error.message, /^Brave Search /);
          assert.ok(error.message.includes(words), error.message);
          assert.doesNotMatch(error.message, /the-key/);
          return true;
        },
      );
    }
    const { url } = await service(context, (_request, response) => response.writeHead(403).end());
    await assert.rejects(searchOn({ targets: [{ engine: 'searxng', url }] }).search(QUERY), /format json/);
  });

  test('switched off, cancelled, nothing to search for', async (context) => {
    assert.equal(searchOn({}).isOn, false);
    await assert.rejects(searchOn({}).search(QUERY), /switched off/);
    const reason = new SluiceError('cancelled', 'gone');
    const controller = new AbortController();
    const { url, seen } = await service(context, () => controller.abort(reason));
    const search = searchOn({ targets: [{ engine: 'tavily', url }] });
    assert.deepEqual(await search.search(' \n\u200b '), []);
    await assert.rejects(search.search(QUERY, { signal: controller.signal }), reason);
    assert.equal(seen.length, 1);
  });

  test('long queries are cut to what engines take', async (context) => {
    const { url, seen } = await service(context, fixture('tavily'));
    await searchOn({ targets: [{ engine: 'tavily', url }] }).search('word '.repeat(60));
    await searchOn({ targets: [{ engine: 'tavily', url }] }).search('w'.repeat(1000));
    const queries = seen.map(({ body }) => (body as { query: string }).query);
    assert.equal(queries[0]?.split(' ').length, 50);
    assert.equal(queries[1]?.length, 400);
  });
});

describe('results', () => {
  test('only http(s), none twice, a name for all, nothing invisible', () => {
    const results = cleanResults(
      [
        {
          title: 'A &lt;b&gt; <em>c</em>',
          url: 'https://a.example/x y',
          snippet: 'one\n\u202etwo\u{e0041} &#169; &#x110000;',
        },
        { title: 'again', url: 'https://a.example/x%20y', snippet: '' },
        { title: 'script', url: 'javascript:alert(1)', snippet: '' },
        { title: 'file', url: 'file:///etc/passwd', snippet: '' },
        { title: 'key', url: 'https://user:key@b.example/', snippet: '' },
        { title: '', url: 'https://b.example/', snippet: '', text: 'می\u200cخواهم\u0000' },
        { title: 'too many', url: 'https://c.example/', snippet: '' },
      ],
      2,
    );
    assert.deepEqual(results, [
      { title: 'A <b> c', url: 'https://a.example/x%20y', snippet: 'one two © &#x110000;' },
      { title: 'b.example', url: 'https://b.example/', snippet: '', text: 'می\u200cخواهم' },
    ]);
  });
});

describe('configuration of search', () => {
  const targets = (section: Parameters<typeof resolveSearch>[0], environment = {}) => {
    const { config, problems } = resolveSearch(section, environment);
    return [config.targets.map(({ engine, url, apiKey }) => [engine, url, apiKey]), problems.map(({ key }) => key)];
  };

  test('nothing said: Tavily without a key, then Wikipedia', () => {
    const expected = [
      ['tavily', 'https://api.tavily.com', undefined],
      ['wikipedia', 'https://en.wikipedia.org', undefined],
    ];
    assert.deepEqual(targets({}), [expected, []]);
    assert.deepEqual(targets({ results: 3 }, { TAVILY_API_KEY: ' ' }), [expected, []]);
    assert.deepEqual(resolveSearch({ results: 3 }, {}).config.results, 3);
  });

  test('variables, the file, and both', () => {
    assert.deepEqual(targets({}, { BRAVE_API_KEY: 'k' }), [[['brave', 'https://api.search.brave.com', 'k']], []]);
    assert.deepEqual(targets({}, { EXA_API_KEY: 'k', SEARXNG_URL: 'http://searx.local:8888/' }), [
      [['searxng', 'http://searx.local:8888', undefined]],
      [],
    ]);
    assert.deepEqual(targets({ engine: 'exa' }, { EXA_API_KEY: 'k' }), [[['exa', 'https://api.exa.ai', 'k']], []]);
    assert.deepEqual(targets({ engine: 'exa', apiKey: 'own' }, { EXA_API_KEY: 'k' })[0], [
      ['exa', 'https://api.exa.ai', 'own'],
    ]);
    assert.deepEqual(targets({ url: 'http://127.0.0.1:8888' }), [
      [['searxng', 'http://127.0.0.1:8888', undefined]],
      [],
    ]);
    assert.deepEqual(targets({ engine: 'wikipedia', url: 'https://de.wikipedia.org/' })[0], [
      ['wikipedia', 'https://de.wikipedia.org', undefined],
    ]);
    assert.deepEqual(targets({ engine: 'none' }, { EXA_API_KEY: 'k' }), [[], []]);
  });

  test('a variable that makes no sense is named without its value, and nobody else is asked instead', () => {
    for (const [section, environment, named] of [
      [{}, { SEARXNG_URL: 'planted words', EXA_API_KEY: 'k' }, 'SEARXNG_URL'],
      [{}, { SEARXNG_URL: 'http://user:planted@host' }, 'SEARXNG_URL'],
      [{}, { TAVILY_API_KEY: 'planted words' }, 'TAVILY_API_KEY'],
      [{ engine: 'searxng' }, { SEARXNG_URL: 'ftp://planted' }, 'SEARXNG_URL'],
      [{ engine: 'brave' }, { BRAVE_API_KEY: 'planted\nwords' }, 'BRAVE_API_KEY'],
    ] as const) {
      const { config, problems, notes } = resolveSearch(section, environment);
      assert.deepEqual([config.targets, problems, notes.length], [[], [], 1]);
      assert.match(notes[0] ?? '', new RegExp(`^web search is off: the environment variable ${named} holds something`));
      assert.doesNotMatch(notes[0] ?? '', /planted/);
    }
    const own = resolveSearch({ engine: 'searxng', url: 'http://h' }, { SEARXNG_URL: 'planted words' });
    assert.deepEqual([own.config.targets.length, own.notes], [1, []]);
  });

  test('what is missing is named', () => {
    for (const engine of ['brave', 'exa'] as const) assert.deepEqual(targets({ engine }), [[], ['apiKey']]);
    assert.deepEqual(targets({ engine: 'searxng' }), [[], ['url']]);
    assert.deepEqual(targets({ apiKey: 'k' })[1], ['apiKey']);
  });
});
