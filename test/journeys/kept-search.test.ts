import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { plainServer } from '../support/plain-server.ts';
import { at, contentOf, converse, type KeptWorld, lastBody, openKept, postJson, told } from './kept-world.ts';

const RESULTS = readFileSync(new URL('../fixtures/search/searxng.json', import.meta.url), 'utf8');

const ask = (world: KeptWorld, path: string, body: object): Promise<Response> =>
  fetch(`${world.origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

test('without an engine a search is told as lost, by every field that asks for one', async (context) => {
  const world = await openKept('search: { engine: none }');
  context.after(() => world.close());
  const messages = [{ role: 'user', content: 'How old?' }];
  const [chats, conversation, responses, gemini] = [
    '/v1/chat/completions',
    '/backend-api/v2/conversation',
    '/v1/responses',
    '/v1beta/models/acme%2Ftest-model:generateContent',
  ];
  const contents = [{ role: 'user', parts: [{ text: 'How old?' }] }];
  const tool_calls = [{ function: { name: 'search_tool', arguments: '{}' } }];
  for (const [path, body, field] of [
    [chats, { messages, web_search: true }, 'web_search'],
    [chats, { messages, tool_calls }, 'tool_calls'],
    [conversation, { messages, web_search: 'tortoise' }, 'web_search'],
    [responses, { input: 'How old?', tools: [{ type: 'web_search' }] }, 'tools.web_search'],
    [gemini, { contents, tools: [{ googleSearch: {} }] }, 'tools.googleSearch'],
  ] as const) {
    const asked = { model: 'acme/test-model', ...body };
    const answer = await ask(world, path, asked);
    assert.equal(answer.status, 200, `${path} ${await answer.clone().text()}`);
    assert.equal(answer.headers.get('x-sluice-dropped'), field, path);
    await answer.text();
    if (path === gemini) continue;
    const refused = await ask(world, path, { ...asked, strict: true });
    assert.equal(refused.status, 400, path);
    const { error } = (await refused.json()) as { error: { message: string; code: string } };
    assert.match(error.message, /^The web search failed\. Web search is switched off\./);
    assert.equal(error.code, 'unsupported_field');
  }
});

describe('web search over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  let status = 200;
  const queries: string[] = [];
  let closeEngine = (): void => {};
  before(async () => {
    const keep = (done: () => void): void => {
      closeEngine = done;
    };
    const engine = await plainServer({ after: keep }, (request, response) => {
      queries.push(new URL(request.url ?? '', 'http://x').searchParams.get('q') ?? '');
      response.writeHead(status, { 'content-type': 'application/json' }).end(RESULTS);
    });
    // The operator named the engine, so it may be on loopback; pages that it finds may not.
    world = await openKept(`search: { engine: searxng, url: '${engine.url}', pages: 0 }`);
  });
  after(async () => {
    await world.close();
    closeEngine();
  });

  const asked = (content: string) => [{ role: 'user', content }];

  test('results reach the model as data, and their sources stand behind the answer', async () => {
    const events = await converse(world, { messages: asked('How old do tortoises get?\nBe brief.'), web_search: true });
    assert.deepEqual(queries.splice(0), ['How old do tortoises get?']);
    const prompt = String(lastBody(world).messages.at(-1)?.content);
    assert.match(prompt, /## Jonathan \(tortoise\) - Wikipedia\n\nJonathan \(hatched c\. 1832\)/);
    assert.match(prompt, /> Source: \[\[1\]\]\(https:\/\/en\.wikipedia\.org\/wiki\/Jonathan_%28tortoise%29\)/);
    assert.match(prompt, /^<search-results ([0-9a-f]{12})>[\s\S]*<\/search-results \1>[\s\S]*It is data/);
    assert.ok(prompt.endsWith('How old do tortoises get?\nBe brief.'));
    const text = contentOf(events);
    assert.match(text, /^Hello world\n\n> \[1\] \[Jonathan \(tortoise\) - Wikipedia\]\(https:/);
    const order = events.map(({ type }) => type);
    const sources = events.findIndex((event) => String(event['content']).includes('> [1]'));
    assert.ok(sources < order.indexOf('usage') && order.indexOf('usage') < order.indexOf('finish'), String(order));
    assert.equal(order.filter((type) => type === 'usage').length, 1);
    assert.equal(order.at(-1), 'finish');
  });

  test('bare results, as front ends ask for them', async () => {
    const answer = await fetch(at(world, 'create?provider=CachedSearch&prompt=tortoises'));
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/);
    assert.match(await answer.text(), /^## Jonathan \(tortoise\) - Wikipedia\n\nJonathan .*\n\n> Source: \[\[1\]\]/s);
    assert.deepEqual(queries.splice(0), ['tortoises']);
  });

  test('a query of its own, in every way to ask', async () => {
    await converse(world, { messages: asked('Tell me'), web_search: 'tortoise age' });
    assert.deepEqual(queries.splice(0), ['tortoise age']);
    const { json } = await told(
      postJson(`${world.origin}/v1/chat/completions`, {
        model: 'acme/test-model',
        messages: asked('Tell me'),
        web_search: 'tortoise v1',
      }),
    );
    assert.match(json.choices[0].message.content, /^Hello world\n\n> \[1\]/);
    const created = await fetch(at(world, 'create?provider=acme&prompt=Tell&web_search=tortoise+create'));
    assert.match(await created.text(), /^Hello world\n\n> \[1\]/);
    await (await fetch(at(world, 'create?provider=acme&prompt=Tell+me+all&web_search=true'))).text();
    assert.deepEqual(queries.splice(0), ['tortoise v1', 'tortoise create', 'Tell me all']);
    // The same query is not asked again.
    await converse(world, { messages: asked('Tell me'), web_search: 'tortoise age' });
    assert.deepEqual(queries.splice(0), []);
  });

  test('words that mean no search for nothing', async () => {
    for (const off of [false, 'false', '0', '', null, undefined]) {
      const events = await converse(world, { messages: asked('Quiet'), web_search: off });
      assert.equal(contentOf(events), 'Hello world');
      assert.equal(lastBody(world).messages.at(-1)?.content, 'Quiet');
    }
    assert.deepEqual(queries, []);
  });

  test('a search that fails is a log line, never a failed answer', async () => {
    status = 500;
    const events = await converse(world, { messages: asked('Broken engine'), web_search: true });
    status = 200;
    assert.equal(contentOf(events), 'Hello world');
    assert.match(
      String(events.find(({ type }) => type === 'log')?.['log']),
      /^The web search failed\. SearXNG could not be asked: it answered 500/,
    );
    assert.equal(lastBody(world).messages.at(-1)?.content, 'Broken engine');
    assert.equal(events.at(-1)?.type, 'finish');
  });

  test('one that fails is told by /v1, too, and refused with strict', async () => {
    const body = { model: 'acme/test-model', messages: asked('Broken engine again'), web_search: true };
    status = 500;
    const loose = await ask(world, '/v1/chat/completions', body);
    const strict = await ask(world, '/v1/chat/completions', { ...body, strict: true });
    status = 200;
    assert.equal(loose.status, 200);
    assert.equal(loose.headers.get('x-sluice-dropped'), 'web_search');
    assert.equal(strict.status, 400);
    const { error } = (await strict.json()) as { error: { message: string; param: string } };
    assert.match(error.message, /^The web search failed\. SearXNG could not be asked: it answered 500/);
    assert.equal(error.param, 'web_search');
    const found = await ask(world, '/v1/chat/completions', { ...body, strict: true });
    assert.equal(found.headers.get('x-sluice-dropped'), null);
    assert.equal(found.status, 200);
  });
});
