import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { eventually } from '../support/eventually.ts';
import { plainServer } from '../support/plain-server.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import { all, FORMATS, lastOf, of, openWorld, type World } from './responses-world.ts';
import { assertHolds } from './sdk-vendors.ts';

const RESULTS = readFileSync(new URL('../fixtures/search/searxng.json', import.meta.url), 'utf8');
const CLOCK = { type: 'function', name: 'clock', parameters: { type: 'object' }, strict: true } as const;
const SEARCH = { type: 'web_search' } as const;

/** A call of the search, as a model writes it. */
const searchFor = (query: string, id = 'call_s') => ({
  id,
  name: 'web_search',
  arguments: ['{"que', `ry":"${query}"}`],
});

describe('the tool web_search', { timeout: 60_000 }, () => {
  const queries: string[] = [];
  /** The search for `Slow`, which nobody answers, is given up. */
  const left = Promise.withResolvers<void>();
  let closeEngine = (): void => {};
  let world: World;
  before(async () => {
    const keep = (done: () => void): void => {
      closeEngine = done;
    };
    const engine = await plainServer({ after: keep }, (request, response) => {
      queries.push(new URL(request.url ?? '', 'http://x').searchParams.get('q') ?? '');
      if (queries.at(-1) === 'Slow') response.once('close', () => left.resolve());
      else if (queries.at(-1)?.startsWith('Broken') === true) response.writeHead(500).end('down');
      else response.writeHead(200, { 'content-type': 'application/json' }).end(RESULTS);
    });
    world = await openWorld(`search: { engine: searxng, url: '${engine.url}', pages: 0 }`);
  });
  after(async () => {
    await world.close();
    closeEngine();
  });

  test('searches before the model answers, and is an item of the answer', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ text: ['A hundred years.'] });
    const body = {
      model: seat.model,
      input: 'How old do tortoises get?\nBe brief.',
      tools: [{ type: 'web_search' as const }],
    };
    const events = await all(await world.client.responses.create({ ...body, stream: true }));
    assert.deepEqual(queries, ['How old do tortoises get?']);
    assert.match(seat.last.prompt, /^<search-results/);
    const answer = lastOf(events);
    assertHolds(answer.output, [
      { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'How old do tortoises get?' } },
      { type: 'message' },
    ]);
    assert.deepEqual(
      events.slice(1, 7).map(({ type }) => type),
      [
        'response.in_progress',
        'response.output_item.added',
        'response.web_search_call.in_progress',
        'response.web_search_call.searching',
        'response.web_search_call.completed',
        'response.output_item.done',
      ],
    );
    assert.deepEqual(await all(await world.client.responses.retrieve(answer.id, { stream: true })), events);
    // Its own output is no news to the next request, and the words that were searched for are the user's own again.
    const next = await world.client.responses
      .create({
        model: seat.model,
        input: [{ role: 'user', content: 'Hi' }, ...(answer.output as ResponseInputItem[])],
      })
      .withResponse();
    assert.equal(next.response.headers.get('x-sluice-dropped'), null);
    await world.client.responses.create({ model: seat.model, previous_response_id: answer.id, input: 'Sure?' });
    assert.equal(/search-results/.test(JSON.stringify(seat.last.body)), false);
  });

  test('a search that fails is an item that failed', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['No idea.'] });
    const answer = await world.client.responses.create({
      model: seat.model,
      input: 'Broken?',
      tools: [{ type: 'web_search' }],
      background: true,
    });
    let { status, output } = answer;
    while (status === 'queued' || status === 'in_progress') {
      ({ status, output } = await world.client.responses.retrieve(answer.id));
    }
    assert.equal(status, 'completed');
    assertHolds(output, [{ type: 'web_search_call', status: 'failed' }, { type: 'message' }]);
  });

  test('nothing is searched for where no tool is wanted', async () => {
    const before = queries.length;
    const seat = world.seat('openai');
    seat.answers({ text: ['Hello'] });
    const tools = [{ type: 'web_search' as const }];
    const answer = await world.client.responses.create({ model: seat.model, input: 'Hi', tools, tool_choice: 'none' });
    assertHolds(answer.output, [{ type: 'message' }]);
    assert.equal(queries.length, before);
  });

  for (const format of FORMATS) {
    test(`before ${format}: beside tools of the client the model searches when it wants to`, async () => {
      const seat = world.seat(format);
      const before = queries.length;
      const answers: ReturnType<VendorScript>[] = [
        { reasoning: ['I wonder'], text: ['Let me see.'], toolCalls: [searchFor(`tortoise ${format}`)] },
        { toolCalls: [searchFor('Broken', 'call_1'), searchFor(`giant ${format}`, 'call_2')] },
        { text: ['A hundred ', 'years.'] },
      ];
      let round = 0;
      seat.answers((request) => {
        round += 1;
        assert.deepEqual([...request.tools].sort(), ['clock', 'web_search']);
        return answers[round - 1] ?? { text: ['too many'] };
      });
      const body = { model: seat.model, input: 'How old do tortoises get?', tools: [SEARCH, CLOCK] };
      const { data, response } = await world.client.responses.create({ ...body, stream: true }).withResponse();
      const events = await all(data);
      assert.equal(response.headers.get('x-sluice-dropped'), null);
      assert.deepEqual(queries.slice(before).sort(), ['Broken', `giant ${format}`, `tortoise ${format}`]);
      const { output, usage, output_text: _, ...answer } = lastOf(events);
      assert.equal(answer.status, 'completed');
      const shown = output.flatMap((item): unknown[] => {
        if (item.type === 'web_search_call') return [[item.status, (item.action as { query?: string }).query]];
        return item.type === 'message' ? item.content.map((part) => ('text' in part ? part.text : part)) : [];
      });
      assert.deepEqual(shown, [
        'Let me see.',
        ['completed', `tortoise ${format}`],
        ['failed', 'Broken'],
        ['completed', `giant ${format}`],
        'A hundred years.',
      ]);
      assert.equal(of(events, 'response.completed').length, 1);
      assert.equal(of(events, 'response.function_call_arguments.delta').length, 0);
      assert.equal(usage?.total_tokens, 3 * 18);
      assert.equal(seat.arrived.length, 3);
      // The last question holds what was said before, and what was found, each behind its call.
      const sent = JSON.stringify(seat.last.body);
      for (const part of ['Let me see.', 'The search failed', 'was found by a web search for'])
        assert.ok(sent.includes(part), part);
      const told = await all(await world.client.responses.retrieve(answer.id, { stream: true }));
      assert.deepEqual(told, events);

      seat.answers({ text: ['Yes.'] });
      const next = await world.client.responses
        .create({ model: seat.model, previous_response_id: answer.id, input: 'Sure?' })
        .withResponse();
      assert.equal(next.response.headers.get('x-sluice-dropped'), null);
    });
  }

  test('a call of a tool of the client ends the answer', async () => {
    const seat = world.seat('openai');
    const before = queries.length;
    seat.answers({ toolCalls: [searchFor('tortoise'), { id: 'call_2', name: 'clock', arguments: ['{}'] }] });
    const answer = await world.client.responses.create({ model: seat.model, input: 'Hi', tools: [SEARCH, CLOCK] });
    assertHolds(answer.output, [{ type: 'function_call', name: 'clock', call_id: 'call_2' }]);
    assert.equal(answer.output.length, 1);
    assert.equal(queries.length, before);
  });

  test('a model that never stops searching is stopped', async () => {
    const seat = world.seat('openai');
    seat.answers(() => ({ toolCalls: [searchFor('tortoise')] }));
    const answer = await world.client.responses.create({ model: seat.model, input: 'Hi', tools: [SEARCH, CLOCK] });
    assert.equal(answer.status, 'completed');
    assert.equal(answer.output.filter(({ type }) => type === 'web_search_call').length, 8);
    assert.equal(seat.arrived.length, 9);
  });

  test('a model that must call a tool may answer once it has searched', async () => {
    const seat = world.seat('openai');
    seat.answers(({ prompt }) =>
      /search/.test(prompt) ? { text: ['A hundred years.'] } : { toolCalls: [searchFor('tortoise')] },
    );
    const body = { model: seat.model, input: 'Hi', tools: [SEARCH, CLOCK], tool_choice: 'required' as const };
    assert.equal((await world.client.responses.create(body)).output_text, 'A hundred years.');
    const choices = seat.arrived.map(({ body }) => (body as { tool_choice: unknown }).tool_choice);
    assert.deepEqual(choices, ['required', 'auto']);
  });

  test('of many searches at once a few are made, and the model hears so', async () => {
    const seat = world.seat('openai');
    const before = queries.length;
    const wanted = Array.from({ length: 6 }, (_, index) => searchFor(`No. ${index}`, `call_${index}`));
    seat.answers(({ prompt }) => (/search/.test(prompt) ? { text: ['Well.'] } : { toolCalls: wanted }));
    const answer = await world.client.responses.create({ model: seat.model, input: 'Hi', tools: [SEARCH, CLOCK] });
    assert.equal(answer.output_text, 'Well.');
    assert.deepEqual(queries.slice(before).sort(), ['No. 0', 'No. 1', 'No. 2', 'No. 3']);
    const { messages } = seat.last.body as { messages: { role: string; content: string }[] };
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    assert.ok(results.slice(0, 4).every((text) => text.includes('was found by a web search for')));
    assert.deepEqual(results.slice(4), Array(2).fill('Only 4 searches are made at once.'));
  });

  test('a later round that fails ends the answer with its error', async () => {
    const seat = world.seat('openai');
    seat.answers(({ prompt }) =>
      /search/.test(prompt)
        ? { status: 400, errorMessage: 'no more' }
        : { text: ['Wait.'], toolCalls: [searchFor('tortoise')] },
    );
    const stream = await world.client.responses.create({
      model: seat.model,
      input: 'Hi',
      tools: [SEARCH, CLOCK],
      stream: true,
    });
    await assert.rejects(all(stream), /no more/);
  });

  test('a client that leaves takes the search along, and no round follows', async () => {
    const seat = world.seat('openai');
    seat.answers({ toolCalls: [searchFor('Slow')] });
    const leaving = new AbortController();
    const answer = world.client.responses.create(
      { model: seat.model, input: 'Hi', tools: [SEARCH, CLOCK] },
      { signal: leaving.signal },
    );
    const failed = assert.rejects(answer);
    await eventually('it is searched', () => queries.at(-1) === 'Slow');
    leaving.abort();
    await Promise.all([failed, left.promise]);
    await sleep(50);
    assert.equal(seat.arrived.length, 1);
  });

  test('a choice decides whether and when', async () => {
    const seat = world.seat('openai');
    const offered = async (tool_choice: object | string): Promise<[readonly string[], boolean]> => {
      seat.answers({ text: ['Hello'] });
      const body = { model: seat.model, input: 'Hi', tools: [SEARCH, CLOCK], tool_choice };
      await world.client.responses.create(body as never);
      return [seat.last.tools, /search-results/.test(seat.last.prompt)];
    };
    assert.deepEqual(await offered('auto'), [['clock', 'web_search'], false]);
    assert.deepEqual(await offered('none'), [['clock'], false]);
    assert.deepEqual(await offered({ type: 'function', name: 'clock' }), [['clock'], false]);
    assert.deepEqual(await offered({ type: 'web_search' }), [['clock'], true]);
    const allowed = (tools: object[]) => offered({ type: 'allowed_tools', mode: 'auto', tools });
    assert.deepEqual(await allowed([CLOCK]), [['clock'], false]);
    assert.deepEqual(await allowed([CLOCK, SEARCH]), [['clock', 'web_search'], false]);
  });

  test("a function of the client's own with that name stays the client's", async () => {
    const seat = world.seat('openai');
    seat.answers({ toolCalls: [searchFor('tortoise')] });
    const { data, response } = await world.client.responses
      .create({ model: seat.model, input: 'Hi', tools: [SEARCH, { ...CLOCK, name: 'web_search' }] })
      .withResponse();
    assertHolds(data.output, [{ type: 'function_call', name: 'web_search' }]);
    assert.equal(response.headers.get('x-sluice-dropped'), 'tools.web_search');
  });
});
