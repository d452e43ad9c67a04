import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { plainServer } from '../support/plain-server.ts';
import { startSluiceProcess } from '../support/sluice-process.ts';
import { ask, askChat, begin, type Json, readChatStream, receive } from '../support/wire-answers.ts';

// The bodies of long prompts lie outside of V8's heap. Without being told it would keep them until it collects the whole of that.

const KB = 1024;
const MB = 1024 * KB;
const PROMPT_BYTES = 200 * KB;
const LONG = 'x'.repeat(PROMPT_BYTES);
/** Odd: the one in the middle is looked for. */
const PROMPTS = 31;

function chat(content: string, more: Json = {}): Json {
  return { model: 'mock/m', messages: [{ role: 'user', content }], ...more };
}

async function memoryOutside(origin: string): Promise<number> {
  const { body } = await ask(origin, '/metrics');
  return Number(/^nodejs_external_memory_bytes (\d+)$/m.exec(body)?.[1]);
}

describe('the memory of a long prompt is given back once it is sent', { timeout: 120_000 }, () => {
  for (const [title, body] of [
    ['for a whole answer', chat(LONG)],
    ['for a stream', chat(LONG, { stream: true })],
    // Of these all is read.
    ['with a field for the provider', chat(LONG, { extra_body: { top_k: 3 } })],
    ['with something to remember', chat(LONG, { memory: true, user: 'me' })],
  ] satisfies [string, Json][]) {
    test(title, async (context) => {
      const upstream = await startOpenAiUpstream();
      context.after(() => upstream.close());
      const sluice = await startSluiceProcess(context, upstream);
      const askOnce = async (): Promise<void> => assert.equal((await askChat(sluice.origin, body)).status, 200);
      await askOnce();
      // What most of them leave behind. The sum says less: other things come and go too, and V8 collects now and then.
      const left: number[] = [];
      let before = await memoryOutside(sluice.origin);
      for (let count = 0; count < PROMPTS; count += 1) {
        await askOnce();
        const after = await memoryOutside(sluice.origin);
        left.push(after - before);
        before = after;
      }
      const usual = left.toSorted((one, other) => one - other)[(PROMPTS - 1) / 2] ?? Number.NaN;
      context.diagnostic(`${(usual / KB).toFixed(1)} KB left by a prompt`);
      assert.ok(usual < PROMPT_BYTES / 2, `a prompt leaves ${(usual / KB).toFixed(0)} KB behind`);
    });
  }
});

describe('a target that another one takes over from', { timeout: 60_000 }, () => {
  for (const [title, fail] of [
    ['by an error', (response: ServerResponse) => response.writeHead(503).end('{}')],
    [
      'in the middle of its answer',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '9000' });
        response.write('{"id":', () => response.destroy());
      },
    ],
  ] satisfies [string, (response: ServerResponse) => void][]) {
    test(`${title} leaves it the whole prompt`, async (context) => {
      let asked = 0;
      const handle = ({ method }: { readonly method: string }, response: ServerResponse): boolean => {
        if (method !== 'POST') return false;
        asked += 1;
        if (asked === 1) fail(response);
        return asked === 1;
      };
      const upstreams = await Promise.all([1, 2].map(() => startOpenAiUpstream(undefined, { models: ['m'], handle })));
      for (const upstream of upstreams) context.after(() => upstream.close());
      const rows = upstreams.map(
        ({ baseUrl }, index) => `  mock${index}: { kind: openai, baseUrl: '${baseUrl}', models: [m] }`,
      );
      const gateway = await startGateway(['providers:', ...rows].join('\n'));
      context.after(() => gateway.close());
      const messages = [{ role: 'user', content: LONG }];
      const answer = await askChat(gateway.origin, { model: 'm', messages });
      assert.equal(answer.status, 200, answer.body);
      const sent = upstreams.flatMap(({ chats }) => chats).map(({ rawBody }) => JSON.parse(rawBody.toString('utf8')));
      assert.deepEqual(
        sent.map((each: Json) => each['messages']),
        [messages, messages],
      );
    });
  }
});

describe('an upstream that answers before it has read', { timeout: 60_000 }, () => {
  test('gets all of the prompt nevertheless', async (context) => {
    const seen = Promise.withResolvers<Buffer>();
    const clientHasBegun = Promise.withResolvers<void>();
    const upstream = await plainServer(context, async (request: IncomingMessage, response) => {
      if (request.method === 'GET') return void response.end('{"data":[]}');
      const chunk = (delta: object, reason: string | null = null) =>
        `data: ${JSON.stringify({
          id: 'c',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'm',
          choices: [{ index: 0, delta, finish_reason: reason }],
        })}\n\n`;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ role: 'assistant', content: 'I know' }));
      await clientHasBegun.promise;
      seen.resolve(await buffer(request));
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
    });
    const gateway = await startGateway(
      [
        `providers: { mock: { kind: openai, baseUrl: '${upstream.url}/v1', models: [m] } }`,
        'limits: { chatBodyBytes: 64000000, bodyBytes: 64000000 }',
      ].join('\n'),
    );
    context.after(() => gateway.close());
    // More than what the system takes in for somebody who does not read, in several long texts.
    const texts = Array.from({ length: 24 }, (_, index) => `${index} `.repeat(MB / 3).slice(0, MB));
    const messages = texts.map((content) => ({ role: 'user', content }));
    const { response } = begin(gateway.origin, '/v1/chat/completions', { ...chat(''), messages, stream: true });
    const answer = await response;
    await once(answer, 'readable');
    clientHasBegun.resolve();
    const said = readChatStream(await receive(answer));
    assert.equal(said.text, 'I know');
    const sent = JSON.parse((await seen.promise).toString('utf8')) as { messages: unknown };
    assert.deepEqual(sent.messages, messages);
  });
});
