import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { testCall } from '../../test/support/call.ts';
import { handDeadlines } from '../../test/support/hand-deadlines.ts';
import { plainServer } from '../../test/support/plain-server.ts';
import { defaultLimits } from '../config/defaults.ts';
import { SluiceError } from '../core/errors.ts';
import { join } from '../core/pieces.ts';
import type { Provider } from '../core/provider.ts';
import { createUpstreamClient, LAST_WORDS_MS, type UpstreamHandler } from '../outbound/upstream.ts';
import { Deadlines } from './deadlines.ts';
import { openRelay, type RelayDeps } from './relay.ts';
import type { Relayed, RelayedStream, RelaySink } from './relayed.ts';

const client = createUpstreamClient(() => defaultLimits);
after(() => client.close());

const deps: RelayDeps = { client, deadlines: new Deadlines(), limits: defaultLimits };

function ask(origin: string, body: string, stream = false, call = testCall(), through = deps): Promise<Relayed> {
  const relay = { target: () => ({ origin, path: '/', headers: {} }) };
  const provider: Provider = {
    id: 'acme',
    label: 'Acme',
    origin: 'file',
    auth: { kind: 'none' },
    models: async () => [],
    relay,
  };
  const request = {
    endpoint: '/',
    body: [Buffer.from(body)],
    stream,
    wantsUsage: false,
    choices: 1,
    wantsJson: false,
    promptTokens: 1,
  };
  return openRelay({ provider, model: 'm' }, request, call, through);
}

/** A stream is asked for, or a whole answer; upstream and time do what the test says, and `done` is what becomes of the exchange. */
function byHand(limits: Partial<RelayDeps['limits']> = {}, call = testCall(), streams = true) {
  const time = handDeadlines();
  const done: string[] = [];
  const handlers: UpstreamHandler[] = [];
  const relayed = ask('', '', streams, call, {
    client: {
      send: (_request, handler) => {
        handlers.push(handler);
        const note = (what: string) => () => void done.push(what);
        return { isSent: true, pause: note('pause'), resume: note('resume'), abort: note('abort') };
      },
      close: async () => {},
    },
    deadlines: time.deadlines,
    limits: { ...defaultLimits, ...limits },
  });
  const [upstream = assert.fail('nobody is asked')] = handlers;
  return { relayed, upstream, time, done };
}

const says = (content: string, finish: string | null = null): Buffer =>
  Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`);
const DONE = Buffer.from('data: [DONE]\n\n');

/** What begins with what the upstream has said by now. */
async function begunStreamOf(relayed: Promise<Relayed>): Promise<RelayedStream> {
  assert.ok((await Promise.race([relayed, turn()])) !== undefined, 'it has not begun');
  return streamOf(relayed);
}

/** A client that takes as much as the test says, and what it heard. */
function listener(takes: () => boolean): { sink: RelaySink; heard: string[] } {
  const heard: string[] = [];
  return {
    heard,
    sink: {
      write: (text) => {
        heard.push(...Array.from(text.matchAll(/"content":"([^"]+)"/g), ([, content = '']) => content));
        return takes();
      },
      end: () => void heard.push('(end)'),
      fail: ({ code }) => void heard.push(`(${code})`),
    },
  };
}

async function streamOf(relayed: Promise<Relayed>): Promise<RelayedStream> {
  const opened = await relayed;
  assert.equal(opened.kind, 'stream');
  return opened as RelayedStream;
}

describe('the relay', () => {
  for (const size of [10, 100_000])
    test(`answers of ${size} characters that come in pieces at the same time stay apart`, async (context) => {
      const { url } = await plainServer(context, async (request, response: ServerResponse) => {
        const letter = Buffer.concat(await request.toArray()).toString();
        const answer = JSON.stringify({
          ...{ id: letter, object: 'chat.completion', created: 1, model: 'm' },
          choices: [{ index: 0, message: { role: 'assistant', content: letter.repeat(size) }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        });
        for (let at = 0; at < answer.length; at += answer.length / 4) {
          response.write(answer.slice(at, at + answer.length / 4));
          await sleep(10);
        }
        response.end();
      });
      const answers = await Promise.all([...'abcdef'].map((letter) => ask(url, letter)));
      for (const [index, answer] of answers.entries()) {
        assert.equal(answer.kind, 'body');
        const { id, provider, choices } = JSON.parse(join(answer.pieces).toString());
        assert.deepEqual([id, provider], ['abcdef'[index], 'acme']);
        assert.equal(choices[0].message.content, id.repeat(size));
      }
      // They are still on their way to their clients while the next come.
      const [first] = answers;
      assert.equal(first?.kind, 'body');
      const before = join(first.pieces).toString();
      await Promise.all([...'ghijkl'].map((letter) => ask(url, letter)));
      assert.equal(join(first.pieces).toString(), before);
    });
});

describe('the relay of a stream', () => {
  test('ends with its call, also with one that was over before', async () => {
    const over = testCall();
    over.cancel(new SluiceError('cancelled', 'left'));
    const before = byHand({}, over);
    await assert.rejects(before.relayed, { code: 'cancelled', message: 'left' });
    assert.deepEqual([before.done, before.time.open], [['abort'], []]);

    const call = testCall();
    const { relayed, done, time } = byHand({}, call);
    call.cancel(new SluiceError('cancelled', 'left'));
    await assert.rejects(relayed, { code: 'cancelled', message: 'left' });
    assert.deepEqual([done, time.open], [['abort'], []]);
  });

  test('that ended is left alone by the end of its call', async () => {
    const call = testCall();
    const { relayed, upstream, done, time } = byHand({}, call);
    upstream.onHead(200, {});
    upstream.onData(says('Hi', 'stop'));
    upstream.onData(DONE);
    const { sink, heard } = listener(() => true);
    (await streamOf(relayed)).attach(sink);
    upstream.onEnd();
    call.cancel();
    assert.deepEqual([heard, done, time.open], [['Hi', '(end)'], [], []]);
  });

  test('tells what has arrived of an explanation, where the rest is cut', async () => {
    const { relayed, upstream } = byHand();
    upstream.onHead(400, {});
    upstream.onData(Buffer.from('{"error":{"message":"There is no field of that name."}}'));
    upstream.onError(new SluiceError('upstream_cut', 'cut'));
    await assert.rejects(relayed, { code: 'invalid_request', message: /There is no field of that name/ });
  });

  test('stands still as long as its client takes nothing, from the first bytes on', async () => {
    const { relayed, upstream, done, time } = byHand();
    upstream.onHead(200, {});
    assert.deepEqual(time.open, [defaultLimits.firstByteMs]);
    upstream.onData(says('a'));
    assert.deepEqual(time.open, [defaultLimits.idleMs]);
    const stream = await streamOf(relayed);
    let takes = false;
    const { sink, heard } = listener(() => takes);
    stream.attach(sink);
    assert.deepEqual([done, time.open], [['pause'], [Number.POSITIVE_INFINITY]]);
    stream.resume();
    assert.deepEqual([done, time.open], [['pause', 'resume'], [defaultLimits.idleMs]]);
    upstream.onData(says('b'));
    assert.deepEqual(done, ['pause', 'resume', 'pause']);
    takes = true;
    stream.resume();
    time.expire();
    assert.deepEqual(heard, ['a', 'b', '(upstream_timeout)'], 'the upstream may not be silent for ever after it');
    assert.deepEqual(done, ['pause', 'resume', 'pause', 'resume', 'abort']);
  });

  test('runs ahead of a client that is not there yet by one line, and goes on with it', async () => {
    const { relayed, upstream, done, time } = byHand({ sseLineBytes: 1_000 });
    upstream.onHead(200, {});
    for (let sent = 0; done.length === 0; sent += 1) {
      assert.ok(sent < 100);
      upstream.onData(says('a'));
    }
    const stream = await streamOf(relayed);
    const { sink } = listener(() => true);
    assert.deepEqual([done, time.open], [['pause'], [Number.POSITIVE_INFINITY]]);
    stream.attach(sink);
    assert.deepEqual([done, time.open], [['pause', 'resume'], [defaultLimits.idleMs]]);
  });

  for (const [title, written] of [
    ['as most write it', (event: string) => event],
    ['with other ends of lines', (event: string) => event.replaceAll('\n', '\r\n')],
    ['with the oldest ends of lines', (event: string) => event.replaceAll('\n', '\r')],
    ['with numbers', (event: string) => `id: 1\n${event}`],
    ['behind signs of life', (event: string) => `: alive\n\n${event}`],
  ] as const)
    test(`reaches its client event by event, written ${title}`, async () => {
      const { relayed, upstream } = byHand();
      upstream.onHead(200, {});
      const send = (content: string) => upstream.onData(Buffer.from(written(says(content).toString())));
      // What follows the end of a line may belong to it.
      send('a');
      send('b');
      const { sink, heard } = listener(() => true);
      (await begunStreamOf(relayed)).attach(sink);
      const before = heard.length;
      assert.ok(before > 0);
      send('c');
      assert.equal(heard.length, before + 1);
    });

  test('begins with the first text, also where an empty one in the same words came before', async () => {
    const { relayed, upstream } = byHand();
    const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
    const send = (delta: object) => {
      const event = { ...head, choices: [{ index: 0, delta, finish_reason: null }] };
      upstream.onData(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
    };
    upstream.onHead(200, {});
    send({ role: 'assistant', content: '' });
    send({ content: '' });
    send({ content: 'a' });
    const { sink, heard } = listener(() => true);
    (await begunStreamOf(relayed)).attach(sink);
    assert.deepEqual(heard, ['a']);
  });

  test('tells a client what happened before it was there', async () => {
    const failing = byHand();
    failing.upstream.onHead(200, {});
    failing.upstream.onData(says('a'));
    failing.upstream.onError(new SluiceError('upstream_cut', 'cut'));
    failing.upstream.onError(new SluiceError('upstream_cut', 'cut'));
    const { sink, heard } = listener(() => true);
    (await streamOf(failing.relayed)).attach(sink);
    assert.deepEqual(heard, ['a', '(upstream_cut)']);
  });

  test('that cannot be read is asked for no longer', async () => {
    const { relayed, upstream, done } = byHand();
    upstream.onHead(200, {});
    upstream.onData(says('a'));
    const { sink, heard } = listener(() => true);
    (await streamOf(relayed)).attach(sink);
    upstream.onData(Buffer.from('data: {"error":{"message":"crashed","code":502}}\n\n'));
    upstream.onError(new SluiceError('upstream_cut', 'cut'));
    assert.deepEqual([heard, done], [['a', '(upstream_failed)'], ['abort']]);
  });

  test('leaves its connection to the next one, unless the upstream goes on', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    for (const ends of [true, false]) {
      const { relayed, upstream, done } = byHand();
      upstream.onHead(200, {});
      upstream.onData(says('a'));
      const { sink, heard } = listener(() => false);
      const stream = await streamOf(relayed);
      stream.attach(sink);
      stream.resume();
      upstream.onData(Buffer.concat([says('b', 'stop'), DONE]));
      assert.deepEqual(
        [heard, done],
        [
          ['a', 'b', '(end)'],
          ['pause', 'resume', 'pause', 'resume'],
        ],
      );
      if (ends) upstream.onEnd();
      context.mock.timers.tick(10_000);
      assert.deepEqual(done.slice(4), ends ? [] : ['abort']);

      const whole = byHand({}, testCall(), false);
      whole.upstream.onHead(200, {});
      whole.upstream.onData(Buffer.concat([says('a', 'stop'), DONE]));
      assert.equal((await whole.relayed).kind, 'decoded');
      assert.deepEqual(whole.done, []);
      if (ends) whole.upstream.onEnd();
      context.mock.timers.tick(10_000);
      assert.deepEqual(whole.done, ends ? [] : ['abort'], 'where one answer was asked for');
    }
  });

  test('is waited for no longer where signs of life are all that follows its end', async () => {
    const { relayed, upstream, time } = byHand();
    const ping = Buffer.from(': ping\n\n');
    upstream.onHead(200, {});
    upstream.onData(says('a'));
    const first = time.touches;
    upstream.onData(ping);
    assert.equal(time.touches, first + 1);
    upstream.onData(says('b', 'stop'));
    const before = time.touches;
    upstream.onData(ping);
    assert.deepEqual([time.touches, time.open], [before, [LAST_WORDS_MS]]);
    // Some name an end in every chunk: there is more to say than it seemed.
    upstream.onData(says('c', 'stop'));
    assert.deepEqual([time.touches, time.open], [before + 1, [LAST_WORDS_MS]]);
    const { sink, heard } = listener(() => true);
    (await streamOf(relayed)).attach(sink);
    time.expire();
    assert.deepEqual(heard, ['a', 'b', 'c', '(end)']);

    const whole = byHand({}, testCall(), false);
    whole.upstream.onHead(200, {});
    whole.upstream.onData(says('a', 'stop'));
    const since = whole.time.touches;
    whole.upstream.onData(ping);
    assert.deepEqual([whole.time.touches, whole.time.open], [since, [LAST_WORDS_MS]]);
    whole.time.expire();
    assert.equal((await whole.relayed).kind, 'decoded');
  });

  test('is whole once its end is named, whatever becomes of its connection', async () => {
    for (const happens of ['cut', 'silence'] as const) {
      const { relayed, upstream, done, time } = byHand();
      upstream.onHead(200, {});
      upstream.onData(says('a', 'stop'));
      assert.deepEqual(time.open, [LAST_WORDS_MS]);
      const stream = await streamOf(relayed);
      const { sink, heard } = listener(() => false);
      stream.attach(sink);
      assert.deepEqual(time.open, [Number.POSITIVE_INFINITY]);
      // More to the same end: its client is still the one who is waited for.
      upstream.onData(says('b', 'stop'));
      assert.deepEqual(time.open, [Number.POSITIVE_INFINITY]);
      stream.resume();
      assert.deepEqual(time.open, [LAST_WORDS_MS], 'nor is it waited for for ever then');
      if (happens === 'cut') upstream.onError(new SluiceError('upstream_cut', 'cut'));
      else time.expire();
      assert.deepEqual([heard, time.open], [['a', 'b', '(end)'], []], happens);
      assert.equal(done.includes('abort'), happens === 'silence');
    }
  });

  test('is whole once its end is named also where one answer was asked for, and never before', async () => {
    for (const happens of ['cut', 'silence', 'end'] as const) {
      for (const finish of ['stop', null]) {
        const { relayed, upstream, time } = byHand({}, testCall(), false);
        upstream.onHead(200, {});
        upstream.onData(says('a'));
        upstream.onData(says('b', finish));
        assert.deepEqual(time.open, [finish === null ? defaultLimits.idleMs : LAST_WORDS_MS]);
        if (happens === 'cut') upstream.onError(new SluiceError('upstream_cut', 'cut'));
        else if (happens === 'silence') time.expire();
        else upstream.onEnd();
        const ended = await Promise.race([relayed.catch((error: SluiceError) => error.code), turn()]);
        assert.deepEqual(time.open, []);
        if (finish === null) assert.equal(ended, happens === 'silence' ? 'upstream_timeout' : 'upstream_cut');
        else {
          assert.ok(typeof ended === 'object' && ended.kind === 'decoded', String(ended));
          const texts = ended.batch.flatMap((chunk) => (chunk.type === 'content' ? [chunk.content] : []));
          assert.equal(texts.join(''), 'ab');
        }
      }
    }
  });

  test('a whole one is no larger than the limit, also where the upstream streams it', async () => {
    const { relayed, upstream, done } = byHand({ answerBytes: 10_000 }, testCall(), false);
    upstream.onHead(200, {});
    const piece = says('x'.repeat(100));
    let sent = 0;
    for (; sent < 1_000 && done.length === 0; sent += 1) upstream.onData(piece);
    assert.deepEqual(done, ['abort']);
    assert.equal(sent, Math.floor(10_000 / piece.length) + 1);
    await assert.rejects(relayed, { code: 'upstream_invalid', message: /larger than/ });
  });

  test('that stops without an end is cut, however properly its connection ends', async () => {
    for (const isThere of [true, false]) {
      const { relayed, upstream, time } = byHand();
      upstream.onHead(200, {});
      upstream.onData(says('a'));
      const { sink, heard } = listener(() => true);
      const stream = await streamOf(relayed);
      if (isThere) stream.attach(sink);
      // Without the empty line that should close it.
      upstream.onData(says('b').subarray(0, -2));
      upstream.onEnd();
      if (!isThere) stream.attach(sink);
      assert.deepEqual([heard, time.open], [['a', 'b', '(upstream_cut)'], []]);
    }
  });

  test('is as long as it likes once something is to be seen of it', async () => {
    const { relayed, upstream, done } = byHand({ answerBytes: 10_000, sseLineBytes: 10_000 });
    upstream.onHead(200, {});
    upstream.onData(says('a'));
    const { sink, heard } = listener(() => true);
    (await streamOf(relayed)).attach(sink);
    for (let sent = 0; sent < 1_000; sent += 1) upstream.onData(says('b'.repeat(100)));
    assert.deepEqual([heard.length, done], [1_001, []]);
  });

  test('has ended with the last word, though its connection stays open', async () => {
    for (const streams of [true, false]) {
      const { relayed, upstream, time } = byHand({}, testCall(), streams);
      upstream.onHead(200, {});
      upstream.onData(says('a', 'stop'));
      upstream.onData(DONE);
      const ended = await Promise.race([relayed, turn()]);
      assert.deepEqual([ended?.kind, time.open], [streams ? 'stream' : 'decoded', []]);
    }
  });

  test('that says nothing, or fails without an end, is given up', async () => {
    const tooMuch = { code: 'upstream_invalid', message: /nothing that says anything/ };
    for (const [says, limits] of [
      [': still there\n\n', { answerBytes: 10_000 }],
      ['data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n', { sseLineBytes: 10_000 }],
    ] as const) {
      const { relayed, upstream, done } = byHand(limits);
      upstream.onHead(200, {});
      for (let sent = 0; sent < 1_000 && done.length === 0; sent += 1) upstream.onData(Buffer.from(says));
      assert.deepEqual(done, ['abort'], says);
      await assert.rejects(relayed, tooMuch);
    }
    const { relayed, upstream, done } = byHand();
    upstream.onHead(500, {});
    for (let sent = 0; sent < 100 && done.length === 0; sent += 1) upstream.onData(Buffer.alloc(10_000, 'x'));
    assert.deepEqual(done, ['abort']);
    await assert.rejects(relayed, { code: 'upstream_failed' });
  });
});
