import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EventSource } from 'eventsource';
import { eventually } from '../support/eventually.ts';
import { usageLines } from '../support/usage.ts';
import type { VendorAnswer } from '../support/vendor-script.ts';
import { begin, QUESTION, readConversation, readError, receive } from '../support/wire-answers.ts';
import {
  beginKept,
  beginReading,
  eventsOf,
  openStreams,
  readEvents,
  readStream,
  type StreamsWorld,
  stop,
  streamOf,
  textOf,
  withoutNumbers,
} from './streams-world.ts';

// Answers that outlive their connection: reading them again, from anywhere, and stopping them.

const PIECES = [
  'Grüße',
  ', 世界',
  ' 🌍\n',
  'id: 7\n\n',
  'event: finish\n',
  '"quoted"',
  ' \\n',
  ' end',
  '.',
  ' Really',
  '.',
];
const ANSWER: VendorAnswer = { reasoning: ['Let', ' me', ' see'], text: PIECES };
const slowly = (delayMs: number) => (): VendorAnswer => ({ ...ANSWER, delayMs });

/** How often the usage of an answer was recorded. */
async function recorded({ gateway }: StreamsWorld): Promise<number> {
  return (await usageLines(gateway.origin)).length;
}

async function isRecorded(world: StreamsWorld, times: number): Promise<void> {
  await eventually('the usage is recorded', async () => (await recorded(world)) >= times);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(await recorded(world), times);
}

describe('a resumable answer', { timeout: 60_000, concurrency: 4 }, () => {
  test('has an id and numbered events; without the wish nothing changes', async (context) => {
    const world = await openStreams(context, () => ANSWER);
    const ask = async (more: object) =>
      receive(await beginKept(world, { ...more } as Record<string, unknown>).response);
    for (const resumable of [undefined, null, false]) {
      const plain = await ask({ resumable });
      readConversation(plain);
      assert.equal(plain.headers['x-sluice-stream'], undefined);
      assert.doesNotMatch(plain.body, /^id:/m);
    }
    const plain = await ask({ resumable: false });
    const kept = await ask({});
    streamOf(kept);
    assert.match(kept.headers['content-type'] ?? '', /^text\/event-stream/);
    assert.equal(kept.headers['x-sluice-provider'], 'mock');
    const events = eventsOf(kept.body);
    assert.deepEqual(
      events.map(({ id }) => id),
      events.map((_, index) => index + 1),
    );
    assert.equal(withoutNumbers(kept.body), plain.body);
    assert.equal(textOf(kept.body), PIECES.join(''));
    assert.ok(world.upstream.chats.every(({ rawBody }) => !rawBody.includes('resumable')));
  });

  test('can be asked for with a form', async (context) => {
    const world = await openStreams(context, () => ANSWER);
    const form = new FormData();
    form.set('json', JSON.stringify({ provider: 'mock', model: 'test-model', messages: QUESTION, resumable: true }));
    const response = await fetch(`${world.base}/conversation`, { method: 'POST', body: form });
    const id = response.headers.get('x-sluice-stream') ?? assert.fail('the answer names its stream');
    assert.equal((await readStream(world, id)).body, await response.text());
  });

  test('gives the same bytes after every event, however it is asked', async (context) => {
    const world = await openStreams(context, () => ANSWER);
    const whole = await receive(await beginKept(world).response);
    const id = streamOf(whole);
    const count = eventsOf(whole.body).length;
    let left = '';
    for (let after = 0; after <= count; after += 1) {
      const rest = await readStream(world, id, `?after=${after}`);
      assert.equal(rest.status, 200);
      assert.match(rest.headers['content-type'] ?? '', /^text\/event-stream/);
      assert.equal(rest.headers['cache-control'], 'no-store');
      assert.equal(streamOf(rest), id);
      assert.equal(left + rest.body, whole.body, `after ${after}`);
      if (after < count) {
        const byHeader = await readStream(world, id, '?after=1', { 'last-event-id': String(after) });
        assert.equal(byHeader.body, rest.body, 'the header wins');
      }
      left += `${rest.body.split('\n\n', 1)[0]}\n\n`;
    }
    assert.equal((await readStream(world, id)).body, whole.body);
    assert.equal(world.upstream.chats.length, 1);
  });

  test('goes on without its client, who finds the rest wherever it left', async (context) => {
    const world = await openStreams(context, slowly(15));
    const total = eventsOf((await receive(await beginKept(world).response)).body).length;
    await Promise.all(
      Array.from({ length: total }, async (_, count) => {
        const client = beginKept(world);
        const id = streamOf(await client.response);
        const had = await readEvents(client, count);
        const last = eventsOf(had).length;
        const rest = await readStream(world, id, `?after=${last}`);
        const whole = await readStream(world, id);
        assert.equal(had + rest.body, whole.body, `left after ${last}`);
        assert.equal(textOf(whole.body), PIECES.join(''));
        assert.equal(eventsOf(whole.body).at(-1)?.type, 'finish');
      }),
    );
    assert.equal(world.upstream.chats.length, total + 1, 'nothing was asked twice');
    for (const chat of world.upstream.chats) assert.equal(await chat.closed, 'finished');
    await isRecorded(world, total + 1);
  });

  test('is put together from many connections that were cut anywhere', async (context) => {
    const world = await openStreams(context, slowly(20));
    await Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        const first = beginKept(world);
        const id = streamOf(await first.response);
        let got = await readEvents(first, 1 + (client % 3));
        while (eventsOf(got).at(-1)?.type !== 'finish') {
          const next = beginReading(world, id, '', { 'last-event-id': String(eventsOf(got).length) });
          if ((await next.response).statusCode === 204) break;
          const timer = setTimeout(() => next.leave(), Math.random() * 60);
          const { body } = await receive(await next.response);
          clearTimeout(timer);
          got += body.slice(0, body.lastIndexOf('\n\n') + 2 || 0).replace(/^\n+/, '');
        }
        assert.equal(got, (await readStream(world, id)).body);
        assert.equal(textOf(got), PIECES.join(''));
      }),
    );
    assert.equal(world.upstream.chats.length, 8);
  });

  test('has any number of readers, who all get the same', async (context) => {
    const world = await openStreams(context, slowly(20));
    const client = beginKept(world);
    const response = await client.response;
    const id = streamOf(response);
    const readers = Array.from({ length: 10 }, () => readStream(world, id));
    const gone = readEvents(beginReading(world, id), 3);
    const whole = await receive(response);
    await gone;
    for (const reader of readers) assert.equal((await reader).body, whole.body);
    assert.ok(whole.complete);
    await isRecorded(world, 1);
  });

  test('is read by an EventSource, which comes back after a cut and stays away after the end', async (context) => {
    const world = await openStreams(context, slowly(60));
    const types = new Set(eventsOf((await receive(await beginKept(world).response)).body).map(({ type }) => type));
    const client = beginKept(world);
    const id = streamOf(await client.response);
    client.leave();
    const seen: { readonly id: string; readonly data: string }[] = [];
    const statuses: number[] = [];
    const asked: (string | undefined)[] = [];
    let cut = (): void => {};
    const source = new EventSource(`${world.base}/streams/${id}`, {
      async fetch(url, init) {
        asked.push((init.headers as Record<string, string>)['Last-Event-ID']);
        const begun = new AbortController();
        init.signal?.addEventListener('abort', () => begun.abort());
        const response = await fetch(url, { ...init, signal: begun.signal } as RequestInit);
        statuses.push(response.status);
        if (statuses.length === 1) cut = () => begun.abort(new Error('cut'));
        return response;
      },
    });
    context.after(() => source.close());
    for (const type of types) {
      source.addEventListener(type, (event) => {
        seen.push({ id: event.lastEventId, data: event.data });
        // The first connection breaks in the middle, however slow all this is.
        if (seen.length === 3) cut();
      });
    }
    await eventually('the source has closed', () => source.readyState === EventSource.CLOSED, 30_000);
    const events = eventsOf((await readStream(world, id)).body);
    assert.deepEqual(
      seen.map((each) => [Number(each.id), JSON.parse(each.data)]),
      events.map((each) => [each.id, each.data]),
    );
    assert.equal(statuses.at(-1), 204);
    assert.ok(statuses.length >= 3, 'it was cut, came back, and was sent away');
    assert.equal(asked[0], undefined);
    assert.equal(asked.at(-1), String(events.length));
  });

  test('begins at once for a reader who has all there is', async (context) => {
    const world = await openStreams(context, () => ({ text: ['a', 'b'], stallAfter: 1 }), '{ heartbeatMs: 600000 }');
    const client = beginKept(world);
    const id = streamOf(await client.response);
    const had = await readEvents(client, 3);
    const reader = beginReading(world, id, `?after=${eventsOf(had).length}`);
    assert.equal((await reader.response).statusCode, 200);
    await stop(world, id);
    assert.deepEqual(
      eventsOf((await receive(await reader.response)).body).map(({ type }) => type),
      ['finish'],
    );
  });

  test('has nothing more for who comes back after its end, unless who names no event', async (context) => {
    const world = await openStreams(context, () => ANSWER);
    const whole = await receive(await beginKept(world).response);
    const id = streamOf(whole);
    const last = String(eventsOf(whole.body).length);
    const over = await readStream(world, id, '', { 'last-event-id': last });
    assert.deepEqual([over.status, over.headers['cache-control'], over.body], [204, 'no-store', '']);
    assert.equal((await readStream(world, id, '', { 'last-event-id': '' })).body, whole.body);
    const rest = await readStream(world, id, `?after=${last}`, { 'last-event-id': '' });
    assert.deepEqual([rest.status, rest.body], [200, '']);
  });

  test('beats while it is silent', async (context) => {
    const world = await openStreams(context, () => ({ text: ['a', 'b'], stallAfter: 1 }), '{ heartbeatMs: 1000 }');
    const client = beginKept(world);
    const id = streamOf(await client.response);
    const begun = beginReading(world, id, '?after=0');
    let text = '';
    for await (const piece of await begun.response) {
      text += String(piece);
      if (text.endsWith(': ping\n\n')) break;
    }
    begun.leave();
    client.leave();
    await stop(world, id);
  });
});

describe('stopping a resumable answer', { timeout: 60_000, concurrency: 4 }, () => {
  test('ends it upstream and for all readers with a finish of its own', async (context) => {
    const world = await openStreams(context, () => ({ text: ['a', 'b', 'c'], stallAfter: 2 }));
    const client = beginKept(world);
    const response = await client.response;
    const id = streamOf(response);
    const readers = [receive(response), readStream(world, id), readStream(world, id, '?after=2')];
    await eventually('all is said', () => world.upstream.chats.length === 1);
    assert.deepEqual(await stop(world, id), { status: 200, json: { id, stopped: true } });
    assert.equal(await world.upstream.chats[0]?.closed, 'aborted');
    for (const reader of readers) {
      const { body, complete } = await reader;
      assert.ok(complete);
      assert.deepEqual(eventsOf(body).at(-1)?.data, { type: 'finish', finish: { reason: 'stopped' } });
    }
    // Once more changes nothing, and it can still be read.
    assert.deepEqual(await stop(world, id), { status: 200, json: { id, stopped: true } });
    const [whole] = await Promise.all(readers);
    assert.equal((await readStream(world, id)).body, whole?.body);
    assert.equal(await recorded(world), 0);
  });

  test('changes nothing after its own end', async (context) => {
    const world = await openStreams(context, () => ANSWER);
    const whole = await receive(await beginKept(world).response);
    const id = streamOf(whole);
    assert.deepEqual(await stop(world, id), { status: 200, json: { id, stopped: false } });
    assert.equal((await readStream(world, id)).body, whole.body);
    await isRecorded(world, 1);
  });

  test('frees its place although a reader takes nothing', async (context) => {
    const long = 'x'.repeat(64 * 1024);
    const endless = (): VendorAnswer => ({
      text: {
        *[Symbol.iterator]() {
          for (;;) yield long;
        },
      },
    });
    const world = await openStreams(context, endless, '{ streams: 3, keptAnswerBytes: 1000000 }');
    const client = beginKept(world);
    const id = streamOf(await client.response);
    assert.equal((await stop(world, id)).status, 200);
    await eventually('closed upstream', () => world.upstream.open === 0);
    const again = beginKept(world);
    assert.equal((await again.response).statusCode, 200, 'only the reader takes a place still');
    client.leave();
    await stop(world, streamOf(await again.response));
    again.leave();
  });
});

describe('failures of a resumable answer', { timeout: 60_000, concurrency: 4 }, () => {
  for (const fault of ['errorAfter', 'cutAfter', 'endAfter'] as const) {
    test(`one in the middle is kept as its last event (${fault})`, async (context) => {
      const world = await openStreams(context, () => ({ text: ['a', 'b', 'c'], [fault]: 2 }));
      const whole = await receive(await beginKept(world).response);
      const events = eventsOf(whole.body);
      assert.equal(events.at(-1)?.type, 'error');
      assert.equal(events.filter(({ type }) => type === 'finish').length, 0);
      const id = streamOf(whole);
      assert.equal((await readStream(world, id)).body, whole.body);
      assert.equal(eventsOf((await readStream(world, id, `?after=${events.length - 1}`)).body).length, 1);
      assert.deepEqual((await stop(world, id)).json, { id, stopped: false });
    });
  }

  test('what front ends act upon as a chunk is kept too', async (context) => {
    const world = await openStreams(context, () => ANSWER);
    for (const [asked, types] of [
      [{ provider: 'groq', model: 'x' }, ['provider', 'parameters', 'auth']],
      [{ provider: null, model: 'nobody-has-this' }, ['error']],
    ] as const) {
      const whole = await receive(await beginKept(world, asked).response);
      assert.equal(whole.status, 200);
      assert.deepEqual(
        eventsOf(whole.body).map((event) => [event.id, event.type]),
        types.map((type, index) => [index + 1, type]),
      );
      assert.equal((await readStream(world, streamOf(whole))).body, whole.body);
    }
  });

  test('before the first visible chunk it is a status code, and nothing is kept', async (context) => {
    const world = await openStreams(context, () => ({ status: 400, errorMessage: 'no' }), '{ keptAnswers: 1 }');
    for (let time = 0; time < 3; time += 1) {
      const refused = await receive(await beginKept(world).response);
      assert.equal(refused.status, 400);
      readError(refused);
      assert.equal(refused.headers['x-sluice-stream'], undefined);
    }
  });

  test('a client that leaves before it has heard of the stream ends the answer', async (context) => {
    const world = await openStreams(context, () => ({ silent: true }), '{ keptAnswers: 1, streams: 2 }');
    for (let time = 1; time <= 2; time += 1) {
      const client = beginKept(world);
      await eventually('it arrived', () => world.upstream.chats.length === time);
      client.leave();
      assert.equal(await world.upstream.chats.at(-1)?.closed, 'aborted');
    }
  });
});

describe('refusals', { timeout: 60_000 }, () => {
  test('name what is wrong', async (context) => {
    const world = await openStreams(context, () => ANSWER);
    const whole = await receive(await beginKept(world).response);
    const id = streamOf(whole);
    const count = eventsOf(whole.body).length;
    const refused = async (status: number, param: string, ...asked: [id: string, query?: string, headers?: object]) => {
      const [stream, query, headers] = asked;
      const received = await readStream(world, stream, query, headers as Record<string, string>);
      assert.equal(received.status, status, received.body);
      assert.equal(readError(received)['param'], param);
    };
    for (const unknown of ['0'.repeat(32), 'x', '..%2f', id.toUpperCase(), `${id}0`]) await refused(404, 'id', unknown);
    for (const number of ['x', '-1', '1.5', '', '1e1', '0x1', '%20', '9'.repeat(16), String(count + 1)]) {
      await refused(400, 'after', id, `?after=${number}`);
    }
    await refused(400, 'after', id, '?after=1&after=2');
    for (const number of ['x', '-1', String(count + 1)]) {
      await refused(400, 'Last-Event-ID', id, '', { 'last-event-id': number });
    }
    for (const unknown of ['0'.repeat(32), 'x']) {
      const { status, json } = await stop(world, unknown);
      assert.equal(status, 404);
      assert.match(String((json['error'] as Record<string, unknown>)['message']), /no such stream/);
    }
    assert.equal((await fetch(`${world.base}/streams/${id}`, { method: 'HEAD' })).status, 405);
    assert.equal((await fetch(`${world.base}/streams`)).status, 404, 'there is no list');
    assert.equal((await readStream(world, id)).body, whole.body);
  });

  test('resumable takes true or false, and needs an event stream', async (context) => {
    const world = await openStreams(context, () => ANSWER);
    const wrong = await receive(await beginKept(world, { resumable: 'yes' }).response);
    assert.deepEqual([wrong.status, readError(wrong)['param']], [400, 'resumable']);
    const lines = await receive(
      await begin(
        world.gateway.origin,
        '/backend-api/v2/conversation',
        { messages: QUESTION, resumable: true },
        { headers: { accept: 'application/x-ndjson' } },
      ).response,
    );
    assert.deepEqual([lines.status, readError(lines)['param']], [400, 'resumable']);
    assert.equal(world.upstream.chats.length, 0);
  });
});
