import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { plainServer } from '../support/plain-server.ts';
import {
  at,
  contentOf,
  converse,
  type Event,
  type KeptWorld,
  lastBody,
  openKept,
  postJson,
  remove,
  told,
} from './kept-world.ts';
import { openWorld } from './sdk-vendors.ts';

const FOUND = readFileSync(new URL('../fixtures/search/searxng.json', import.meta.url), 'utf8');
const ASK = [{ role: 'user', content: 'How old do tortoises get?\nBe brief.' }];

/** One red dot. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const search = (args: unknown) => ({ type: 'function', function: { name: 'search_tool', arguments: args } });

describe('server-side tool calls over HTTP', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  let status = 200;
  let delayMs = 0;
  const queries: string[] = [];
  let closeEngine = (): void => {};
  let engineUrl = '';
  before(async () => {
    const keep = (done: () => void): void => {
      closeEngine = done;
    };
    const engine = await plainServer({ after: keep }, (request, response) => {
      queries.push(new URL(request.url ?? '', 'http://x').searchParams.get('q') ?? '');
      const answer = (): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(FOUND);
      };
      if (delayMs === 0) answer();
      else setTimeout(answer, delayMs).unref();
    });
    engineUrl = engine.url;
    world = await openKept(`search: { engine: searxng, url: '${engineUrl}', pages: 0 }`);
  });
  after(async () => {
    await world.close();
    closeEngine();
  });

  /** The addresses that the model was given, in order. */
  const given = (): string[] =>
    [...String(lastBody(world).messages.at(-1)?.content).matchAll(/> Source: \[\[\d+\]\]\((\S+)\)/g)].map(
      ([, url = '']) => url,
    );

  test('search_tool searches as web_search does: results before the question, sources behind the answer', async () => {
    const args = JSON.stringify({ query: 'tortoise age', max_results: 2, max_words: 40, backend: 'auto' });
    const events = await converse(world, { messages: ASK, tool_calls: [search(args)], web_search: true });
    assert.deepEqual(queries.splice(0), ['tortoise age'], 'the tool takes the place of web_search');
    const body = lastBody(world);
    const prompt = String(body.messages.at(-1)?.content);
    assert.match(prompt, /^<search-results ([0-9a-f]{12})>[\s\S]*<\/search-results \1>[\s\S]*"tortoise age"/);
    assert.ok(prompt.endsWith('How old do tortoises get?\nBe brief.'));
    assert.equal(given().length, 2);
    assert.equal(body['tool_calls'], undefined, 'no upstream sees the calls');
    assert.match(contentOf(events), /^Hello world\n\n> \[1\] \[[^\n]*\n>\n> \[2\] /);
    assert.equal(events.at(-1)?.type, 'finish');
  });

  test('a picture that comes with the answer is kept under the words of the question, not of what was found', async () => {
    world.answers({ images: [{ mimeType: 'image/png', data: PNG }] });
    for (const asks of [{ web_search: true }, { tool_calls: [search({ query: 'tortoise pictures' })] }]) {
      const events = await converse(world, { messages: [{ role: 'user', content: 'Draw a tortoise' }], ...asks });
      assert.ok(given().length > 0);
      const urls = events.find((event) => event['urls'] !== undefined)?.['urls'];
      assert.match(String(urls), /^\/media\/\d+_test-model\+Draw_a_tortoise_[0-9a-f]{16}\.png$/);
      assert.equal((await told(remove(at(world, String(urls).slice(1))))).status, 200);
    }
    queries.splice(0);
    world.answers({ text: ['Hello', ' world'] });
  });

  test('arguments may be an object, or nothing: then the question is searched for', async () => {
    for (const args of [{ add_text: false, timeout: 5 }, {}, '', null, undefined]) {
      await converse(world, {
        messages: [{ role: 'user', content: `Ask ${String(args)}` }],
        tool_calls: [search(args)],
      });
      assert.ok(given().length > 0);
    }
    assert.deepEqual([...new Set(queries.splice(0))].length, 4, 'what was asked before is remembered');
  });

  test('two calls are one list without doubles', async () => {
    const calls = [search({ query: 'first words' }), search({ query: 'second words' })];
    const events = await converse(world, { messages: ASK, tool_calls: calls });
    assert.deepEqual(queries.splice(0).sort(), ['first words', 'second words']);
    assert.equal(new Set(given()).size, given().length);
    assert.equal(contentOf(events).match(/> \[1\]/g)?.length, 1);
  });

  test('a search that fails, or takes too long, is a log chunk and never a failed answer', async () => {
    status = 500;
    const failed = await converse(world, { messages: ASK, tool_calls: [search({ query: 'broken' })] });
    status = 200;
    delayMs = 5_000;
    const late = await converse(world, { messages: ASK, tool_calls: [search({ query: 'late', timeout: 0.2 })] });
    delayMs = 0;
    queries.length = 0;
    for (const events of [failed, late]) {
      assert.equal(contentOf(events), 'Hello world');
      assert.match(String(events.find(({ type }) => type === 'log')?.['log']), /^The web search failed\. SearXNG/);
      assert.equal(events.at(-1)?.type, 'finish');
    }
    assert.match(JSON.stringify(late), /did not arrive within/);
  });

  test('a tool that is not known here is passed over, with a word about it', async () => {
    const call = { type: 'function', function: { name: 'bucket_tool', arguments: 'not JSON' } };
    const events = await converse(world, { messages: ASK, tool_calls: [call] });
    assert.match(String(events.find(({ type }) => type === 'log')?.['log']), /no tool 'bucket_tool'/);
    assert.equal(contentOf(events), 'Hello world');
    assert.deepEqual(queries, []);
  });

  for (const [field, calls] of [
    ['tool_calls', 'search_tool'],
    ['tool_calls[0].function.name', [{ function: {} }]],
    ['tool_calls[0].function.arguments', [search('{"query":')]],
    ['tool_calls[0].function.arguments', [search('[]')]],
    ['tool_calls[0].function.arguments', [search(7)]],
    ['tool_calls[0].function.arguments.query', [search({ query: 7 })]],
    ['tool_calls[1].function.arguments.max_results', [search({}), search({ max_results: 0 })]],
    ['tool_calls[0].function.arguments.max_results', [search('{"max_results":"5"}')]],
    ['tool_calls[0].function.arguments.max_words', [search({ max_words: 1e9 })]],
    ['tool_calls[0].function.arguments.backend', [search({ backend: ['x'] })]],
    ['tool_calls[0].function.arguments.add_text', [search({ add_text: 'yes' })]],
    ['tool_calls[0].function.arguments.timeout', [search({ timeout: -1 })]],
    ['tool_calls', Array.from({ length: 5 }, () => search({}))],
  ] as const) {
    test(`refuses ${JSON.stringify(calls).slice(0, 90)}, naming ${field}`, async () => {
      const sent = world.upstream.chats.length;
      const body = { model: 'acme/test-model', messages: ASK, tool_calls: calls };
      const a = await told(postJson(at(world, 'conversation'), body));
      const b = await told(postJson(`${world.origin}/v1/chat/completions`, body));
      assert.deepEqual([a.status, a.json.error.param], [400, field]);
      assert.deepEqual([b.status, b.json.error.param], [422, field]);
      assert.ok(a.message.startsWith(`'${field}' `), a.message);
      assert.equal(world.upstream.chats.length, sent);
      assert.deepEqual(queries, []);
    });
  }

  test('dialect B knows the field too, through the official client', async () => {
    const client = new OpenAI({ baseURL: `${world.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
    const body = {
      model: 'acme/test-model',
      messages: [{ role: 'user' as const, content: 'How old?' }],
      tool_calls: [search('{"query":"tortoises in B"}')],
    };
    const answer = await client.chat.completions.create({ ...body, stream: false });
    assert.deepEqual(queries.splice(0), ['tortoises in B']);
    assert.match(answer.choices[0]?.message.content ?? '', /^Hello world\n\n> \[1\]/);
    assert.match(String(lastBody(world).messages.at(-1)?.content), /^<search-results /);
    assert.equal(lastBody(world)['tool_calls'], undefined);
  });

  test('every choice of an answer gets what was found', async (context) => {
    const vendors = await openWorld(`search: { engine: searxng, url: '${engineUrl}', pages: 0 }`);
    context.after(() => vendors.close());
    const seat = vendors.seat('anthropic');
    const body = {
      model: seat.model,
      n: 2,
      messages: [{ role: 'user' as const, content: 'How old?' }],
      tool_calls: [search('{"query":"tortoises for two"}')],
    };
    seat.answers({ text: ['Old.'] });
    const { choices } = await vendors.client.chat.completions.create({ ...body, stream: false });
    queries.length = 0;
    assert.equal(choices.length, 2);
    for (const { message } of choices) assert.match(message.content ?? '', /^Old\.\n\n> \[1\]/);
    for (const { prompt } of seat.arrived) assert.match(prompt, /^<search-results /);
  });

  test('calls of the model reach the front end whole, each once, however they came', async () => {
    world.answers({
      text: ['Let me look.'],
      toolCalls: [
        { id: 'call_w', name: 'weather', arguments: ['{"ci', 'ty":"Pa', 'ris"}'] },
        { id: 'call_t', name: 'time', arguments: ['{}'] },
      ],
    });
    const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
    const events = await converse(world, { messages: ASK, tools });
    const calls = events.filter(({ type }) => type === 'tool_calls');
    assert.deepEqual(calls, [
      {
        type: 'tool_calls',
        tool_calls: [
          { id: 'call_w', index: 0, type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
          { id: 'call_t', index: 1, type: 'function', function: { name: 'time', arguments: '{}' } },
        ],
      },
    ] satisfies Event[]);
    const order = events.map(({ type }) => type);
    assert.ok(order.indexOf('content') < order.indexOf('tool_calls'));
    assert.ok(order.indexOf('tool_calls') < order.indexOf('usage'));
    assert.deepEqual(events.at(-1)?.['finish'], { reason: 'tool_calls' });
  });

  test('a call without an id gets one; a call that was cut is none', async () => {
    const delta = { tool_calls: [{ index: 0, function: { name: 'time', arguments: '{"zone":' } }] };
    const event = (fields: object): string => `data: ${JSON.stringify({ choices: [{ index: 0, ...fields }] })}\n\n`;
    const rest = { tool_calls: [{ index: 0, function: { arguments: '"CET"}' } }] };
    const end = `${event({ delta: {}, finish_reason: 'tool_calls' })}data: [DONE]\n\n`;
    world.answers({ raw: event({ delta }) + event({ delta: rest }) + end });
    const whole = (await converse(world, { messages: ASK })).find(({ type }) => type === 'tool_calls');
    const [call] = (whole?.['tool_calls'] ?? []) as { id: string; function: object }[];
    assert.match(call?.id ?? '', /^call_\w{24}$/);
    assert.deepEqual(call?.function, { name: 'time', arguments: '{"zone":"CET"}' });
    world.answers({ raw: event({ delta }) });
    const cut = await converse(world, { messages: ASK });
    assert.ok(!cut.some(({ type }) => type === 'tool_calls'));
    assert.equal(cut.at(-1)?.type, 'error');
  });

  test('a call in the form that came before tool calls, sent unasked, is shown like any other', async () => {
    const event = (fields: object): string => `data: ${JSON.stringify({ choices: [{ index: 0, ...fields }] })}\n\n`;
    const older = (function_call: object): string => event({ delta: { function_call } });
    const newer = { tool_calls: [{ index: 0, id: 'call_n', function: { name: 'time', arguments: '{"zone":"CET"}' } }] };
    const end = `${event({ delta: {}, finish_reason: 'function_call' })}data: [DONE]\n\n`;
    const pieces = [
      older({ name: 'time', arguments: '' }),
      older({ arguments: '{"zone":' }),
      older({ arguments: '"CET"}' }),
    ];
    const both = event({ delta: { ...newer, function_call: { name: 'time', arguments: '{"zone":"CET"}' } } });
    for (const [sent, id] of [
      [pieces.join(''), /^call_\w{24}$/],
      [both, /^call_n$/],
    ] as const) {
      world.answers({ raw: sent + end });
      const events = await converse(world, { messages: ASK });
      const told = events.filter(({ type }) => type === 'tool_calls');
      const [{ tool_calls: calls } = {}] = told as readonly { tool_calls?: { id: string; function: object }[] }[];
      assert.deepEqual([told.length, calls?.length], [1, 1]);
      assert.match(calls?.[0]?.id ?? '', id);
      assert.deepEqual(calls?.[0]?.function, { name: 'time', arguments: '{"zone":"CET"}' });
      assert.deepEqual(events.at(-1)?.['finish'], { reason: 'tool_calls' });
    }
    world.answers({
      raw: event({ delta: { content: 'No.', function_call: {} } }) + event({ delta: {}, finish_reason: 'stop' }),
    });
    const none = await converse(world, { messages: ASK });
    assert.ok(!none.some(({ type }) => type === 'tool_calls'));
    assert.equal(contentOf(none), 'No.');
  });
});
