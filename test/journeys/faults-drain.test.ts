import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { dial, listen, statusesIn } from '../support/raw-http.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import {
  ask,
  begin,
  QUESTION,
  readChatStream,
  readCompletion,
  readConversation,
  readError,
  receive,
} from '../support/wire-answers.ts';

// What a stop does to answers that are running (F-10); how the process ends is told by stopping.test.ts.

async function openGateway(
  context: TestContext,
  script: VendorScript,
  limits: string,
): Promise<[Gateway, OpenAiUpstream]> {
  const upstream = await startOpenAiUpstream(script);
  const gateway = await startGateway(
    `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }\nlimits: ${limits}`,
  );
  context.after(() => upstream.close());
  return [gateway, upstream];
}

const paths = {
  'dialect B': ['/v1/chat/completions', { stream: true }],
  'dialect B, whole': ['/v1/chat/completions', {}],
  'dialect A': ['/backend-api/v2/conversation', {}],
} as const;

function start(gateway: Gateway, way: keyof typeof paths, agent?: Agent): ReturnType<typeof begin> {
  const [path, more] = paths[way];
  const body = { provider: 'mock', model: 'test-model', messages: QUESTION, ...more };
  return begin(gateway.origin, path, body, agent === undefined ? {} : { agent });
}

function* forever(): Generator<string> {
  for (let count = 0; ; count += 1) yield `${count} `;
}

describe('a stop', { concurrency: 5 }, () => {
  test('waits until a client that reads slowly has all of a whole answer', { timeout: 60_000 }, async (context) => {
    const text = 'a'.repeat(20 * 1024 * 1024);
    const [gateway] = await openGateway(context, () => ({ text: [text] }), '{ drainMs: 30000 }');
    const response = await start(gateway, 'dialect B, whole').response;
    // Much more than what is on the way is left by then.
    await once(response, 'readable');
    const draining = gateway.close();
    await sleep(300);
    assert.equal(readCompletion(await receive(response)).text, text);
    await draining;
  });

  test('waits until a client that reads slowly has all of any other answer', { timeout: 60_000 }, async (context) => {
    const text = Array.from({ length: 20 }, () => 'a'.repeat(1024 * 1024));
    const [gateway] = await openGateway(context, () => ({ text }), '{ drainMs: 30000 }');
    const body = { provider: 'mock', model: 'test-model', max_tokens: 10, messages: QUESTION };
    const response = await begin(gateway.origin, '/v1/messages', body).response;
    await once(response, 'readable');
    const draining = gateway.close();
    await sleep(300);
    const { content } = JSON.parse((await receive(response)).body);
    assert.equal(content[0].text, text.join(''));
    await draining;
  });

  test('waits until a client that reads slowly has the last of a stream', { timeout: 60_000 }, async (context) => {
    // Much more than the system takes at once, so the upstream is done long before the client is.
    const text = ['a', 'b'.repeat(20 * 1024 * 1024)];
    const limits = '{ drainMs: 30000, sseLineBytes: 33554432 }';
    const [gateway, upstream] = await openGateway(context, () => ({ text }), limits);
    const response = await start(gateway, 'dialect B').response;
    await once(response, 'readable');
    await sleep(300);
    const draining = gateway.close();
    await sleep(300);
    assert.equal(readChatStream(await receive(response)).text, text.join(''));
    await draining;
    assert.equal(upstream.open, 0);
  });

  test('waits until a client that reads slowly has all of a file, and not for one that reads nothing', {
    timeout: 60_000,
  }, async (context) => {
    for (const reads of [true, false]) {
      const [gateway] = await openGateway(context, () => ({ text: ['a'] }), `{ drainMs: ${reads ? 30_000 : 500} }`);
      const bytes = Buffer.alloc(20 * 1024 * 1024, 'a file');
      const form = new FormData();
      form.set('purpose', 'user_data');
      form.set('file', new Blob([bytes]), 'a.txt');
      const kept = await fetch(`${gateway.origin}/v1/files`, { method: 'POST', body: form });
      const { id } = (await kept.json()) as { id: string };
      const client = get(`${gateway.origin}/v1/files/${id}/content`);
      context.after(() => client.destroy());
      const [response] = (await once(client, 'response')) as [IncomingMessage];
      await once(response, 'readable');
      const draining = gateway.close();
      await sleep(300);
      if (reads) assert.ok((await buffer(response)).equals(bytes));
      await draining;
    }
  });

  test('lets running answers finish, 20 of 20, and accepts nothing new', { timeout: 60_000 }, async (context) => {
    const text = [...'a slow answer'];
    const [gateway, upstream] = await openGateway(context, () => ({ text, delayMs: 60 }), '{ drainMs: 20000 }');
    const agent = new Agent({ keepAlive: true });
    context.after(() => agent.destroy());
    const ways = Object.keys(paths) as (keyof typeof paths)[];
    const running = Array.from({ length: 20 }, (_, index) => {
      const way = ways[index % ways.length] ?? 'dialect B';
      return { way, response: start(gateway, way, agent).response };
    });
    await eventually('all are asked', () => upstream.chats.length === 20);
    let drained = false;
    const draining = gateway.close().then(() => {
      drained = true;
    });
    await sleep(100);
    await assert.rejects(ask(gateway.origin, '/v1/models'), 'nothing new is accepted');
    assert.ok(!drained);
    for (const { way, response } of running) {
      const received = await receive(await response);
      if (way === 'dialect B') assert.equal(readChatStream(received).text, text.join(''));
      if (way === 'dialect A') assert.equal(readConversation(received).text, text.join(''));
      if (way === 'dialect B, whole') assert.ok(received.body.includes(text.join('')));
    }
    await draining;
    assert.equal(upstream.open, 0);
  });

  test('answers nothing new on connections that are open either', { timeout: 60_000 }, async (context) => {
    let requests = 0;
    function* untilAskedTwice(): Generator<string> {
      while (requests < 2) yield 'slow ';
    }
    const [gateway, upstream] = await openGateway(
      context,
      () => ({ text: untilAskedTwice(), delayMs: 20 }),
      '{ drainMs: 20000 }',
    );
    gateway.app.server.server.on('request', () => {
      requests += 1;
    });
    const socket = await dial(gateway.origin);
    const heard = listen(socket, 20_000);
    const body = JSON.stringify({ provider: 'mock', model: 'test-model', messages: QUESTION, stream: true });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
    const request = `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    socket.write(request);
    // A head that is sent during the stop would end the connection behind its answer.
    await once(socket, 'data');
    const closing = gateway.close();
    socket.write(request);
    const { text } = await heard;
    await closing;
    assert.equal(upstream.chats.length, 1);
    assert.deepEqual(statusesIn(text), [200, 503], text);
    // Whoever is refused is told when to come again: by then another process may listen here.
    assert.equal(text.match(/\r\nretry-after: 5\r\n/g)?.length, 1, text);
  });

  test('cuts endless answers with an error when the time is over', { timeout: 60_000 }, async (context) => {
    const words: number[] = [];
    function* counted(): Generator<string> {
      const place = words.push(0) - 1;
      for (const word of forever()) {
        words[place] = Number(word);
        yield word;
      }
    }
    const [gateway, upstream] = await openGateway(
      context,
      ({ stream }) => (stream ? { text: counted(), delayMs: 20 } : { silent: true }),
      '{ drainMs: 700 }',
    );
    const [chat, conversation, whole] = (['dialect B', 'dialect A', 'dialect B, whole'] as const).map((way) =>
      start(gateway, way),
    );
    await eventually('all are asked', () => upstream.chats.length === 3);
    await eventually('some words are said', () => words.length === 2 && words.every((word) => word > 5));
    const draining = gateway.close();
    for (const [client, read] of [
      [chat, readChatStream],
      [conversation, readConversation],
    ] as const) {
      const said = read(await receive((await client?.response) ?? assert.fail()));
      assert.match(said.text, /^0 1 2 /);
      assert.equal(said.error?.['code'], 'shutting_down');
    }
    const refused = await receive((await whole?.response) ?? assert.fail());
    assert.equal(refused.status, 503);
    assert.equal(readError(refused)['code'], 'shutting_down');
    await draining;
    for (const request of upstream.chats) assert.equal(await request.closed, 'aborted');
  });

  for (const way of ['dialect B', 'dialect A'] as const) {
    test(`does not wait for a client that reads nothing (${way})`, { timeout: 60_000 }, async (context) => {
      const [gateway, upstream] = await openGateway(
        context,
        () => ({ text: forever(), burst: 1_000 }),
        '{ drainMs: 300 }',
      );
      const client = start(gateway, way);
      await client.response;
      await sleep(500); // so that everything on the way is full
      await gateway.close();
      await eventually('closed upstream', () => upstream.open === 0);
      client.leave();
    });
  }

  test('does not wait for connections that are kept for later', { timeout: 60_000 }, async (context) => {
    const [gateway] = await openGateway(context, () => ({ text: ['a'] }), '{ drainMs: 10000, keepAliveMs: 600000 }');
    const agent = new Agent({ keepAlive: true });
    context.after(() => agent.destroy());
    // One that was idle before, and one whose answer ends during the stop.
    await receive(await start(gateway, 'dialect B', agent).response);
    const { response } = start(gateway, 'dialect B', agent);
    await once(await response, 'data');
    await Promise.all([gateway.close(), receive(await response)]);
  });

  test('does not wait for a client that does not take the whole of a long answer', {
    timeout: 60_000,
  }, async (context) => {
    const long = 'x'.repeat(16 * 1024 * 1024);
    const [gateway] = await openGateway(context, () => ({ text: [long] }), '{ drainMs: 500 }');
    const client = start(gateway, 'dialect B, whole');
    await client.response;
    await sleep(200);
    await gateway.close();
    client.leave();
  });
});
