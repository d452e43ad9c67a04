import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import type { VendorAnswer } from '../support/vendor-script.ts';
import { WAYS } from '../support/ways.ts';
import { ask, readError, type Said } from '../support/wire-answers.ts';

import { delta, openGateway, sending } from './answers-world.ts';

// Whatever an upstream answers arrives as each dialect promises it.

describe('answers', { concurrency: 6 }, () => {
  const call = { id: 'call_1', name: 'weather', arguments: ['{"ci', 'ty":"Kö', 'ln \\"', '"}'] };
  const other = { id: 'call_2', name: 'time', arguments: [] };
  const answers: Readonly<Record<string, VendorAnswer>> = {
    'text, usage': { text: ['Grüße, ', '世界'], usage: { prompt: 11, completion: 7 } },
    reasoning: { reasoning: ['hm, ', 'so…'], text: ['Therefore.'] },
    'tool calls': { toolCalls: [call, other] },
    'text and tool calls': { text: ['Let me look.'], toolCalls: [call] },
    'reasoning and tool calls': { reasoning: ['hm'], toolCalls: [call] },
    'parts of tokens': { text: ['a'], usage: { prompt: 10.8, completion: 7.2 } },
    nothing: { text: [] },
    'cut by max_tokens': { text: ['half a'], finish: 'length' },
    'stopped by a filter': { text: ['I '], finish: 'content_filter' },
    'a very long text': { text: ['x'.repeat(2 * 1024 * 1024), 'é"\\\n'.repeat(50_000)] },
  };

  for (const [name, answer] of Object.entries(answers)) {
    test(name, { timeout: 30_000 }, async (context) => {
      const [gateway, upstream] = await openGateway(context, () => answer);
      for (const [title, way] of Object.entries(WAYS)) {
        const said = way.read(await way.ask(gateway.origin, { provider: 'mock', model: 'test-model' }));
        assert.equal(said.text, [...(answer.text ?? [])].join(''), title);
        assert.equal(said.reasoning, [...(answer.reasoning ?? [])].join(''), title);
        assert.deepEqual(
          said.toolCalls,
          (answer.toolCalls ?? []).map((each) => ({ ...each, arguments: each.arguments.join('') })),
          title,
        );
        assert.equal(said.finish, answer.finish ?? (answer.toolCalls ? 'tool_calls' : 'stop'), title);
        const { prompt_tokens, completion_tokens, total_tokens } = said.usage ?? {};
        assert.deepEqual([prompt_tokens, completion_tokens, total_tokens], [11, 7, 18], title);
      }
      const plain = await ask(gateway.origin, '/backend-api/v2/create?provider=mock&model=m&prompt=Hi');
      const finish = answer.finish ?? (answer.toolCalls ? 'tool_calls' : 'stop');
      assert.equal(plain.body, [...(answer.text ?? [])].join('') + (finish === 'stop' ? '' : `[${finish}]`));
      assert.equal(upstream.chats.length, Object.keys(WAYS).length + 1);
    });
  }

  for (const [name, events, expected] of [
    [
      'a refusal',
      [delta({ refusal: 'I will not.' }), delta({}, 'stop'), '[DONE]'],
      { text: 'I will not.', finish: 'stop' },
    ],
    [
      'the whole answer in one event',
      [
        delta({ role: 'assistant', content: 'all' }, 'stop', {
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }),
      ],
      { text: 'all', finish: 'stop' },
    ],
    [
      'text and failure in one read',
      [`${JSON.stringify(delta({ content: 'begun' }))}\n\ndata: {"error":{"message":"crashed","code":502}}`],
      { text: 'begun', error: true },
    ],
    [
      'no usage',
      [delta({ content: 'uncounted' }), delta({}, 'stop'), '[DONE]'],
      { text: 'uncounted', finish: 'stop', estimated: true },
    ],
    ['an empty stream that says its end', ['[DONE]'], { text: '', finish: 'stop', estimated: true }],
    [
      'a connection that is reset after the end',
      [delta({ content: 'all' }), delta({}, 'stop')],
      { text: 'all', finish: 'stop', estimated: true, isReset: true },
    ],
    [
      'content in parts (Mistral)',
      [
        delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
        delta({ content: [{ type: 'text', text: 'so' }] }),
        delta({ content: '.' }, 'stop'),
      ],
      { text: 'so.', reasoning: 'hm', finish: 'stop' },
    ],
    [
      'usage in a chunk with choices, behind the end (OpenRouter)',
      [
        ': OPENROUTER PROCESSING',
        delta({ content: 'all' }, null, { provider: 'Some Host' }),
        delta({ content: '' }, 'stop', { provider: 'Some Host' }),
        delta({ role: 'assistant', content: '' }, null, {
          provider: 'Some Host',
          usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
        }),
        '[DONE]',
      ],
      { text: 'all', finish: 'stop', total: 7 },
    ],
    [
      'usage in every chunk (xAI)',
      [1, 2, 3].map((count) =>
        delta({ content: `${count}` }, count === 3 ? 'stop' : null, {
          usage: { prompt_tokens: 1, completion_tokens: count, total_tokens: 1 + count },
        }),
      ),
      { text: '123', finish: 'stop', total: 4 },
    ],
    [
      'tool calls without an index, with an object for arguments (Gemini, Ollama)',
      [
        delta({ tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] }),
        delta({ tool_calls: [{ id: 'b', function: { name: 'g', arguments: { x: 1 } } }] }, 'stop'),
      ],
      {
        text: '',
        finish: 'stop',
        toolCalls: [
          { id: 'a', name: 'f', arguments: '{}' },
          { id: 'b', name: 'g', arguments: '{"x":1}' },
        ],
      },
    ],
  ] as const) {
    test(name, { timeout: 30_000 }, async (context) => {
      const wanted: {
        text: string;
        reasoning?: string;
        finish?: string;
        error?: true;
        estimated?: true;
        total?: number;
        isReset?: true;
        toolCalls?: Said['toolCalls'];
      } = expected;
      const options = sending(...events);
      const [gateway, upstream] = await openGateway(context, undefined, {
        async handle(request, response) {
          if (wanted.isReset !== true || request.method !== 'POST')
            return (await options.handle?.(request, response)) ?? false;
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
          await sleep(50);
          response.socket?.resetAndDestroy();
          return true;
        },
      });
      for (const [title, way] of Object.entries(WAYS)) {
        const received = await way.ask(gateway.origin, { provider: 'mock', model: 'test-model' });
        if (wanted.error === true && title.endsWith('whole')) {
          readError(received);
          continue;
        }
        const said = way.read(received);
        assert.equal(said.text, wanted.text, title);
        assert.equal(said.reasoning, wanted.reasoning ?? '', title);
        assert.equal(said.finish, wanted.finish, title);
        assert.deepEqual(said.toolCalls, wanted.toolCalls ?? [], title);
        assert.equal(said.error !== undefined, wanted.error === true, title);
        if (wanted.estimated === true) {
          const { estimated, prompt_tokens: prompt, completion_tokens: completion, total_tokens } = said.usage ?? {};
          assert.deepEqual([estimated, total_tokens], [true, Number(prompt) + Number(completion)], title);
          assert.ok(Number(prompt) > 0, title);
        }
        if (wanted.total !== undefined) assert.equal(said.usage?.['total_tokens'], wanted.total, title);
      }
      if (wanted.error !== true) assert.equal(upstream.chats.length, Object.keys(WAYS).length, 'asked once each');
    });
  }

  const hello = { messages: [{ role: 'user', content: 'Hi' }] };
  const toWhole = '/v1beta/models/mock%2Fm:generateContent';
  for (const [path, body] of [
    ['/v1/messages', { model: 'mock/m', max_tokens: 9, ...hello }],
    ['/v1/responses', { model: 'mock/m', input: 'Hi', store: false }],
    ['/api/chat', { model: 'mock/m', stream: false, ...hello }],
    [toWhole, { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
    ['/backend-api/v2/create?provider=mock&model=m&prompt=Hi&filter_markdown=true', undefined],
    ['/backend-api/v2/create?provider=mock&model=m&prompt=Hi&cache=true', undefined],
  ] as const) {
    test(`${path}: a whole answer has a limit, also where it is put together from a stream`, async (context) => {
      const endless = { reasoning: ['so… '], text: Array.from({ length: 40 }, () => 'x'.repeat(1_000)) };
      const [gateway] = await openGateway(context, () => endless, {}, 'limits: { answerBytes: 30000 }');
      const received = await ask(gateway.origin, path, body);
      assert.equal(received.status, 502);
      assert.match(received.body, /larger than Sluice takes in/);
    });
  }

  test('plain text that is cut keeps what came in the same read as the failure', async (context) => {
    const [gateway] = await openGateway(context, undefined, {
      handle(request, response) {
        if (request.method !== 'POST') return false;
        const events = [delta({ content: 'half' }), { error: { message: 'Boom.' } }];
        response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
        return true;
      },
    });
    const plain = await ask(gateway.origin, '/backend-api/v2/create?provider=mock&model=m&prompt=Hi');
    assert.deepEqual([plain.status, plain.body, plain.complete], [200, 'half', false]);
  });

  test('an end that is named, and then nothing more, on a connection that stays open', {
    timeout: 30_000,
  }, async (context) => {
    const [gateway, upstream] = await openGateway(context, undefined, {
      async handle(request, response) {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(
          [delta({ content: 'all' }), delta({}, 'stop')].map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
        );
        // Signs of life that lead nowhere.
        while (!response.destroyed) {
          response.write(': ping\n\n');
          await sleep(200);
        }
        return true;
      },
    });
    await Promise.all(
      Object.entries(WAYS).map(async ([title, way]) => {
        const said = way.read(await way.ask(gateway.origin, { provider: 'mock', model: 'm' }));
        assert.deepEqual([said.text, said.finish], ['all', 'stop'], title);
      }),
    );
    for (const request of upstream.chats) assert.equal(await request.closed, 'aborted');
    assert.equal(upstream.chats.length, Object.keys(WAYS).length, 'asked once each');
  });

  test('an end in every chunk (Gemini), for longer than last words may take', { timeout: 30_000 }, async (context) => {
    const count = 10;
    const [gateway] = await openGateway(context, undefined, {
      async handle(request, response) {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (let index = 0; index < count; index += 1) {
          response.write(`data: ${JSON.stringify(delta({ content: `${index} ` }, 'stop'))}\n\n`);
          await sleep(450);
        }
        response.end('data: [DONE]\n\n');
        return true;
      },
    });
    await Promise.all(
      Object.entries(WAYS).map(async ([title, way]) => {
        const said = way.read(await way.ask(gateway.origin, { provider: 'mock', model: 'm' }));
        assert.deepEqual([said.text, said.finish], ['0 1 2 3 4 5 6 7 8 9 ', 'stop'], title);
      }),
    );
  });

  test('only events that say nothing do not make a client wait for ever', { timeout: 30_000 }, async (context) => {
    const [gateway, upstream] = await openGateway(context, undefined, {
      async handle(request, response) {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const event = `data: ${JSON.stringify(delta({ role: 'assistant', content: '' }))}\n\n`.repeat(1_000);
        while (!response.destroyed) {
          if (!response.write(event))
            await Promise.race([new Promise((resolve) => response.once('drain', resolve)), request.closed]);
        }
        return true;
      },
    });
    for (const [title, way] of Object.entries(WAYS)) {
      const received = await way.ask(gateway.origin, { provider: 'mock', model: 'm' });
      assert.equal(readError(received)['code'], 'upstream_invalid', title);
    }
    assert.equal(upstream.chats.length, Object.keys(WAYS).length);
  });
});

test("OpenAI's own library reads every kind of stream", { timeout: 30_000 }, async (context) => {
  const [gateway] = await openGateway(context, ({ prompt }) =>
    prompt === 'fail'
      ? { text: ['begun', ' and'], cutAfter: 1 }
      : { reasoning: ['hm'], text: ['Grüße'], toolCalls: [{ id: 'a', name: 'f', arguments: ['{}'] }] },
  );
  const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  const create = (content: string) =>
    client.chat.completions.create({ model: 'mock/m', messages: [{ role: 'user', content }], stream: true });
  let text = '';
  let finish: string | null = null;
  for await (const { choices, usage } of await create('Hi')) {
    text += choices[0]?.delta.content ?? '';
    finish = choices[0]?.finish_reason ?? finish;
    if (finish !== null) assert.equal(usage?.total_tokens, 18);
  }
  assert.deepEqual([text, finish], ['Grüße', 'tool_calls']);
  let begun = '';
  await assert.rejects(async () => {
    for await (const { choices } of await create('fail')) begun += choices[0]?.delta.content ?? '';
  }, /ConnectionError/);
  assert.equal(begun, 'begun');
});
