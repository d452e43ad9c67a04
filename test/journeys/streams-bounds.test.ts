import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesInUse } from '../support/bytes-in-use.ts';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';
import { flood } from '../support/openai-faults.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { ask } from '../support/raw-http.ts';
import type { VendorAnswer } from '../support/vendor-script.ts';
import { QUESTION, readError, receive } from '../support/wire-answers.ts';
import {
  beginKept,
  beginReading,
  eventsOf,
  openStreams,
  readEvents,
  readStream,
  stop,
  streamOf,
  textOf,
} from './streams-world.ts';

// What keeps resumable answers within bounds: time, bytes, places, a shutdown, and who may ask for them.

const MEGABYTE = 1024 * 1024;
const HELD: VendorAnswer = { text: ['a', 'b'], stallAfter: 1 };

/** Numbered words without end. */
function* words(): Generator<string> {
  for (let count = 0; ; count += 1) yield `word ${count} `;
}

describe('the time of a resumable answer', { timeout: 60_000, concurrency: 4 }, () => {
  test('ends when nobody reads it for long; a reader holds it', async (context) => {
    const world = await openStreams(context, () => HELD, '{ unattendedMs: 700 }');
    const client = beginKept(world);
    const id = streamOf(await client.response);
    const reader = beginReading(world, id);
    const response = await reader.response;
    client.leave();
    await sleep(1_200);
    assert.equal(world.upstream.open, 1, 'somebody reads it');
    reader.leave();
    response.on('error', () => {});
    assert.equal(await world.upstream.chats[0]?.closed, 'aborted');
    const last = eventsOf((await readStream(world, id)).body).at(-1);
    assert.equal(last?.type, 'error');
    assert.equal(last?.data['code'], 'cancelled');
    assert.match(String(last?.data['message']), /Nobody has read this answer for 700 ms/);
    assert.deepEqual((await stop(world, id)).json, { id, stopped: false });
  });

  test('is over some time after its end', async (context) => {
    const world = await openStreams(context, undefined, '{ keptAnswerMs: 5000 }');
    const whole = await receive(await beginKept(world).response);
    const id = streamOf(whole);
    assert.equal((await readStream(world, id)).body, whole.body);
    await eventually('closed upstream', () => world.upstream.open === 0);
    // Not by reading: that would hold it.
    await eventually('it is gone', async () => (await stop(world, id)).status === 404);
    const late = await readStream(world, id);
    assert.equal(late.status, 404);
    assert.equal(readError(late)['code'], 'not_found');
    assert.equal((await stop(world, id)).status, 404);
  });

  test('counts as a whole too, with or without readers', async (context) => {
    const world = await openStreams(context, () => HELD, '{ totalMs: 3000 }');
    const [leaving, staying] = [beginKept(world), beginKept(world)];
    const id = streamOf(await leaving.response);
    leaving.leave();
    const stayed = await receive(await staying.response);
    assert.ok(stayed.complete, 'the last words reach a client that reads');
    await eventually('closed upstream', () => world.upstream.open === 0);
    for (const { body } of [stayed, await readStream(world, id)]) {
      assert.equal(eventsOf(body).at(-1)?.data['code'], 'upstream_timeout');
    }
  });

  test('is what the client wants, where that is less', async (context) => {
    const world = await openStreams(context, () => HELD);
    const stayed = await receive(await beginKept(world, { timeout: 3 }).response);
    assert.equal(eventsOf(stayed.body).at(-1)?.data['code'], 'upstream_timeout');
  });
});

describe('the bytes of a resumable answer', { timeout: 120_000 }, () => {
  test('over the limit the oldest are gone: 410, and the rest on request', async (context) => {
    const text = Array.from({ length: 400 }, (_, index) => `word ${index} `);
    const world = await openStreams(context, () => ({ text, delayMs: 1 }), '{ keptAnswerBytes: 4000 }');
    const whole = await receive(await beginKept(world).response);
    assert.equal(textOf(whole.body), text.join(''), 'a reader that keeps up misses nothing');
    const id = streamOf(whole);
    for (const [query, headers, param] of [
      ['', {}, 'after'],
      ['?after=17', {}, 'after'],
      ['', { 'last-event-id': '17' }, 'Last-Event-ID'],
    ] as const) {
      const early = await readStream(world, id, query, headers);
      assert.equal(early.status, 410);
      assert.equal(readError(early)['param'], param);
    }
    const [, offered = ''] = /'(\?after=\d+)'/.exec((await readStream(world, id)).body) ?? [];
    const rest = await readStream(world, id, offered);
    assert.equal(rest.status, 200);
    assert.ok(rest.body.length > 2_000 && rest.body.length <= 4_000, `${rest.body.length} bytes are kept`);
    assert.ok(whole.body.endsWith(rest.body));
    assert.equal(`?after=${(eventsOf(rest.body)[0]?.id ?? 0) - 1}`, offered);
  });

  test('a reader that does not read holds nothing up, and takes no memory', async (context) => {
    const size = 60 * MEGABYTE;
    const flooding = flood(size);
    const world = await openStreams(context, undefined, '{ keptAnswerBytes: 2000000 }', {
      async handle(request, response) {
        if (request.method !== 'POST') return false;
        await flooding.handle(request, response);
        return true;
      },
    });
    const before = bytesInUse();
    const slow = beginKept(world);
    const response = await slow.response;
    const id = streamOf(response);
    const alsoSlow = Array.from({ length: 20 }, () => beginReading(world, id));
    for (const { response: begun } of alsoSlow) await begun;
    await eventually('all is taken in', () => flooding.taken >= size, 60_000);
    assert.equal(await world.upstream.chats[0]?.closed, 'finished');
    // What is held, and not what the collector has only just let go of.
    await eventually('memory is as before', () => bytesInUse() - before < 15 * MEGABYTE);
    // What it reads then is the beginning, and not an end as if all were well.
    const { body, complete } = await receive(response);
    assert.ok(!complete || body.includes('no longer kept'));
    assert.doesNotMatch(body, /^event: finish$/m);
    assert.ok(body.length < size / 2);
    // The last of what was taken in may still be on its way, and moves what is offered.
    await eventually('the end can be read', async () => {
      const [, offered = ''] = /'(\?after=\d+)'/.exec((await readStream(world, id)).body) ?? [];
      const rest = await readStream(world, id, offered);
      return rest.status === 200 && eventsOf(rest.body).at(-1)?.type === 'finish';
    });
    for (const { leave } of alsoSlow) leave();
  });
});

describe('the places of resumable answers', { timeout: 60_000, concurrency: 4 }, () => {
  test('one that nobody reads counts among the streams', async (context) => {
    const world = await openStreams(context, () => HELD, '{ streams: 3 }');
    const client = beginKept(world);
    const id = streamOf(await client.response);
    const refused = await receive(await beginKept(world).response);
    assert.equal(refused.status, 503, 'two answers and their two readers are one too many');
    assert.equal(readError(refused)['code'], 'overloaded');
    const readers = [beginReading(world, id)];
    assert.equal((await readers[0]?.response)?.statusCode, 200);
    assert.equal((await readStream(world, id)).status, 503);
    client.leave();
    const second = await eventually('the place of a reader that left is free', async () => {
      const reader = beginReading(world, id);
      return (await reader.response).statusCode === 200 && reader;
    });
    readers.push(second);
    assert.equal((await receive(await beginKept(world).response)).status, 503);
    await stop(world, id);
    for (const { response } of readers) assert.ok((await receive(await response)).complete);
    const again = beginKept(world);
    await stop(world, streamOf(await again.response));
    again.leave();
  });

  test('over their number: the oldest that has ended makes way, else 503', async (context) => {
    const world = await openStreams(
      context,
      ({ prompt }) => (prompt === 'hold' ? HELD : { text: ['all'] }),
      '{ keptAnswers: 2 }',
    );
    const hold = { messages: [{ role: 'user', content: 'hold' }] };
    const ended = [await receive(await beginKept(world).response), await receive(await beginKept(world).response)];
    const [oldest, newest] = ended.map(streamOf);
    const running = [beginKept(world, hold)];
    const ids = [streamOf((await running[0]?.response) ?? assert.fail())];
    assert.equal((await readStream(world, oldest ?? '')).status, 404);
    assert.equal((await readStream(world, newest ?? '')).status, 200);
    running.push(beginKept(world, hold));
    ids.push(streamOf((await running[1]?.response) ?? assert.fail()));
    const refused = await receive(await beginKept(world).response);
    assert.equal(refused.status, 503);
    assert.match(String(readError(refused)['message']), /ask without 'resumable'/);
    assert.equal(refused.headers['retry-after'], '1');
    const plain = await receive(await beginKept(world, { resumable: false }).response);
    assert.equal(plain.status, 200);
    for (const id of ids) await stop(world, id);
    for (const { leave } of running) leave();
  });
});

describe('a shutdown', { timeout: 60_000, concurrency: 4 }, () => {
  test('lets answers that nobody reads finish', async () => {
    await using upstream = await startOpenAiUpstream(() => ({ text: [...'a slow answer'], delayMs: 60 }));
    const gateway = await startGateway(`providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }`);
    const client = beginKept({ gateway });
    await readEvents(client, 2);
    await gateway.close();
    assert.equal(await upstream.chats[0]?.closed, 'finished');
  });

  test('tells all readers when it cuts them', async () => {
    await using upstream = await startOpenAiUpstream(() => ({ text: words(), delayMs: 20 }));
    const gateway = await startGateway(
      `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }\nlimits: { drainMs: 500 }`,
    );
    const response = await beginKept({ gateway }).response;
    const later = await beginReading({ gateway }, streamOf(response), '?after=2').response;
    const readers = [receive(response), receive(later)];
    await gateway.close();
    for (const reader of readers) {
      const { body, complete } = await reader;
      assert.ok(complete);
      assert.equal(eventsOf(body).at(-1)?.data['code'], 'shutting_down');
    }
    assert.equal(await upstream.chats[0]?.closed, 'aborted');
  });

  test('does not wait for readers that read nothing', async () => {
    await using upstream = await startOpenAiUpstream(() => ({ text: ['x'.repeat(16 * MEGABYTE)] }));
    const gateway = await startGateway(
      `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }\nlimits: { drainMs: 300, sseLineBytes: 40000000 }`,
    );
    const client = beginKept({ gateway });
    const reader = beginReading({ gateway }, streamOf(await client.response));
    await reader.response;
    await sleep(300);
    await gateway.close();
    client.leave();
    reader.leave();
  });
});

test('streams are behind the same doors as everything else', { timeout: 60_000 }, async (context) => {
  const upstream = await startOpenAiUpstream();
  const gateway = await startGateway(
    `key: the-access-key\nproviders: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }`,
  );
  context.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  const authorization = 'Bearer the-access-key';
  const body = { provider: 'mock', model: 'test-model', messages: QUESTION, resumable: true };
  const whole = await ask(gateway.origin, { path: '/backend-api/v2/conversation', body, headers: { authorization } });
  const path = `/backend-api/v2/streams/${streamOf(whole)}`;
  for (const method of ['GET', 'DELETE']) {
    for (const [headers, status] of [
      [{}, 401],
      [{ authorization: 'Bearer another' }, 401],
      [{ authorization, origin: 'https://elsewhere.example' }, 403],
      [{ authorization, host: 'elsewhere.example' }, 403],
    ] as const) {
      const refused = await ask(gateway.origin, { method, path, headers });
      assert.equal(refused.status, status, `${method} ${JSON.stringify(headers)}`);
      assert.ok(refused.json !== undefined);
    }
  }
  assert.equal((await ask(gateway.origin, { path, headers: { authorization } })).text, whole.text);
  assert.doesNotMatch(JSON.stringify(gateway.log.lines), new RegExp(streamOf(whole)), 'ids are secrets');
});
