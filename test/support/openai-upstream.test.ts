import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createParser } from 'eventsource-parser';
import OpenAI from 'openai';
import { eventually } from './eventually.ts';
import { type Fault, type FaultName, faultList, flood, sendRaw } from './openai-faults.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from './openai-upstream.ts';
import type { VendorScript } from './vendor-script.ts';

// The scripted upstream is only worth something when OpenAI's own client understands it, and when its faults are what
// they claim to be.

const messages = [{ role: 'user' as const, content: 'Hi' }];

async function withUpstream(script: VendorScript, run: (client: OpenAI, upstream: OpenAiUpstream) => Promise<void>) {
  const upstream = await startOpenAiUpstream(script, { models: ['test-model', { id: 'other', context_window: 8192 }] });
  try {
    await run(new OpenAI({ baseURL: upstream.baseUrl, apiKey: 'key', maxRetries: 0 }), upstream);
  } finally {
    await upstream.close();
  }
}

describe('the scripted upstream, asked by OpenAI’s own client', () => {
  test('lists its models', () =>
    withUpstream(
      () => ({}),
      async (client, upstream) => {
        const { data } = await client.models.list();
        assert.deepEqual(
          data.map((model) => model.id),
          ['test-model', 'other'],
        );
        assert.equal(upstream.requests.at(-1)?.headers.authorization, 'Bearer key');
        assert.equal(upstream.chats.length, 0);
      },
    ));

  test('answers with text', () =>
    withUpstream(
      () => ({ text: ['Hel', 'lo'], reasoning: ['Hm'], usage: { prompt: 11, completion: 7, cached: 3, reasoning: 2 } }),
      async (client, upstream) => {
        const completion = await client.chat.completions.create({ model: 'test-model', messages });
        assert.deepEqual(completion.choices[0]?.message, {
          role: 'assistant',
          content: 'Hello',
          reasoning_content: 'Hm',
          refusal: null,
          annotations: [],
        });
        assert.equal(completion.choices[0]?.finish_reason, 'stop');
        assert.equal(completion.usage?.total_tokens, 18);
        assert.equal(completion.usage?.prompt_tokens_details?.cached_tokens, 3);
        const [seen] = upstream.chats;
        assert.equal(seen?.prompt, 'Hi');
        assert.equal(seen?.stream, false);
        assert.deepEqual(JSON.parse(String(seen?.rawBody)), seen?.body);
      },
    ));

  test('streams, with usage only when asked', () =>
    withUpstream(
      () => ({ text: ['a', 'b', 'c'], burst: 2, finish: 'length' }),
      async (client, upstream) => {
        for (const include_usage of [true, false]) {
          const stream = await client.chat.completions.create({
            model: 'test-model',
            messages,
            stream: true,
            stream_options: { include_usage },
          });
          const chunks = await Array.fromAsync(stream);
          assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), 'abc');
          assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant');
          assert.equal(chunks.findLast((chunk) => chunk.choices.length > 0)?.choices[0]?.finish_reason, 'length');
          assert.equal(chunks.at(-1)?.usage?.total_tokens, include_usage ? 18 : undefined);
        }
        assert.equal(await upstream.chats[0]?.closed, 'finished');
        assert.equal(upstream.open, 0);
      },
    ));

  test('calls tools in fragments', () =>
    withUpstream(
      () => ({
        toolCalls: [
          { id: 'call_1', name: 'weather', arguments: ['{"ci', 'ty":"Köl', 'n"}'] },
          { id: 'call_2', name: 'time', arguments: [] },
        ],
      }),
      async (client, upstream) => {
        const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: {} } }];
        const runner = client.chat.completions.stream({ model: 'test-model', messages, tools });
        const streamed = await runner.finalChatCompletion();
        const whole = await client.chat.completions.create({ model: 'test-model', messages, tools });
        for (const { choices } of [streamed, whole]) {
          assert.equal(choices[0]?.finish_reason, 'tool_calls');
          assert.deepEqual(
            choices[0]?.message.tool_calls?.map(
              (call) => call.type === 'function' && [call.id, call.function.name, call.function.arguments],
            ),
            [
              ['call_1', 'weather', '{"city":"Köln"}'],
              ['call_2', 'time', ''],
            ],
          );
        }
        assert.deepEqual(upstream.chats[0]?.tools, ['weather']);
      },
    ));

  test('fails with the vendor’s error and its headers', () =>
    withUpstream(
      () => ({ status: 429, errorMessage: 'Slow down', headers: { 'retry-after': '7' } }),
      async (client) => {
        const failing = client.chat.completions.create({ model: 'test-model', messages, stream: true });
        await assert.rejects(failing, (error) => {
          assert.ok(error instanceof OpenAI.RateLimitError);
          assert.equal(error.code, 'rate_limit_exceeded');
          assert.equal(error.headers.get('retry-after'), '7');
          return true;
        });
      },
    ));

  test('sees when a client leaves', () =>
    withUpstream(
      () => ({ text: ['a', 'b'], stallAfter: 1 }),
      async (client, upstream) => {
        const stream = await client.chat.completions.create({ model: 'test-model', messages, stream: true });
        for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'a') break;
        assert.equal(await upstream.chats[0]?.closed, 'aborted');
        assert.equal(upstream.open, 0);
        assert.ok(upstream.connections >= 1);
      },
    ));
});

interface Seen {
  readonly status: number | undefined;
  readonly text: string;
  /** A reason for the end or `[DONE]` came. */
  readonly ended: boolean;
  /** The connection or the stream said that something went wrong, or there was no answer to make sense of. */
  readonly failed: boolean;
}

/** A plain reader with limits of time and size, to compare the faults with what they claim. */
async function readFault(upstream: OpenAiUpstream, model: FaultName, fault: Fault): Promise<Seen> {
  let status: number | undefined;
  let text = '';
  let ended = false;
  let done = false;
  let failed = false;
  let written = '';
  const take = (data: string): void => {
    // The end in the middle of a call is no good one.
    if (data === '[DONE]') {
      done = true;
      ended ||= written === '' || parse(written) !== undefined;
    }
    const json = parse(data) as {
      choices?: { delta?: Message; message?: Message; finish_reason?: string }[];
      error?: unknown;
    };
    if (json?.error !== undefined) failed = true;
    for (const choice of json?.choices ?? []) {
      const said = choice.delta ?? choice.message;
      text += said?.content ?? '';
      for (const call of said?.tool_calls ?? []) written += call.function?.arguments ?? '';
      if (choice.finish_reason) ended = true;
    }
  };
  const parser = createParser({ onEvent: ({ data }) => take(data) });
  const gone = new AbortController();
  // Silence is waited for only once all has come that comes before it, which may take its time on a busy machine.
  const said = fault.expected.kind === 'cut' ? fault.expected.text : '';
  const patience = setTimeout(() => gone.abort(), fault.silent && said === '' ? 300 : 20_000);
  try {
    const response = await fetch(`${upstream.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream: fault.stream ?? true, messages }),
      redirect: 'manual',
      signal: gone.signal,
    });
    status = response.status;
    const decoder = new TextDecoder();
    let size = 0;
    let begin = '';
    for await (const bytes of response.body ?? []) {
      if (fault.silent === undefined) patience.refresh();
      size += bytes.length;
      if (size > 4 * 1024 * 1024) throw new Error('without end');
      const piece = decoder.decode(bytes, { stream: true });
      if (begin.length < 100) begin += piece;
      parser.feed(piece);
      if (done) break;
      if (fault.silent && said !== '' && text === said) setTimeout(() => gone.abort(), 300);
    }
    parser.feed('\n\n');
    if (begin.trimStart().startsWith('{')) take(begin);
  } catch {
    failed = true;
  } finally {
    clearTimeout(patience);
  }
  return { status, text, ended, failed };
}

type Message = { content?: string | null; tool_calls?: { function?: { arguments?: string } }[] } | null;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe('the faults are what they claim', () => {
  let upstream: OpenAiUpstream;
  before(async () => {
    upstream = await startOpenAiUpstream();
  });
  after(() => upstream.close());

  for (const [name, fault] of faultList) {
    test(name, { timeout: 30_000 }, async () => {
      const seen = await readFault(upstream, name, fault);
      const { expected } = fault;
      switch (expected.kind) {
        case 'text':
          assert.equal(seen.text, expected.text);
          assert.ok(seen.ended);
          break;
        case 'cut':
          assert.equal(seen.text, expected.text);
          if (!seen.failed) assert.ok(!seen.ended, 'no sign of a good end');
          break;
        case 'error':
          assert.equal(seen.text, '');
          if (seen.status === 200 && !seen.failed) assert.ok(!seen.ended, 'no sign of a good end');
      }
    });
  }

  test('all of them leave nothing open', async () => {
    await eventually('all are closed', () => upstream.open === 0);
    assert.ok(!upstream.requests.some((request) => request.path === '/stolen'));
  });

  test('raw pieces arrive as they are', async () => {
    const raw = await startOpenAiUpstream(undefined, {
      handle: async (request, response) => {
        await sendRaw(request, response, {
          status: 418,
          headers: { 'x-own': '1' },
          pieces: ['a', Buffer.from([0xff]), 'b'],
        });
        return true;
      },
    });
    try {
      const response = await fetch(`${raw.origin}/anything`);
      assert.equal(response.status, 418);
      assert.equal(response.headers.get('x-own'), '1');
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.from('a\xffb', 'latin1'));
    } finally {
      await raw.close();
    }
  });

  test('a flood waits for its reader', async () => {
    const total = 64 * 1024 * 1024;
    const flooding = flood(total);
    const raw = await startOpenAiUpstream(undefined, {
      handle: async (request, response) => {
        await flooding.handle(request, response);
        return true;
      },
    });
    try {
      const response = await fetch(`${raw.baseUrl}/chat/completions`, { method: 'POST', body: '{}' });
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.ok(flooding.taken < total / 2, `${flooding.taken} bytes are gone although nobody reads`);
      let size = 0;
      for await (const bytes of response.body ?? []) size += bytes.length;
      assert.ok(size >= total);
      assert.ok(flooding.taken >= total);
    } finally {
      await raw.close();
    }
  });
});
