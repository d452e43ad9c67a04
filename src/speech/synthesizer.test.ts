import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { audioFacts } from '../../test/support/audio.ts';
import { testCall, testLogger } from '../../test/support/call.ts';
import { SluiceError } from '../core/errors.ts';
import { Synthesizer, type SynthesizerLimits, type Utterance } from './synthesizer.ts';

function utterance(pieces: readonly string[], fields: Partial<Utterance> = {}): Utterance {
  return { pieces: pieces.map((text) => ({ text, voice: 'kal16', stretch: 1 })), format: 'wav', ...fields };
}

/** A thread that answers each piece with its text, except where the text says what to do instead. */
const SCRIPTED = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (message) => {
    if (message.type !== 'piece') return;
    const { text } = message.piece;
    if (text === 'exit') process.exit(3);
    if (text === 'throw') throw new Error('broken');
    if (text === 'fail') return parentPort.postMessage({ type: 'failed', id: message.id, reason: 'inner' });
    if (text === 'hang') for (;;);
    parentPort.postMessage({ type: 'bytes', id: message.id, bytes: Buffer.from(text + ' ') });
  });
`;

function scripted(context: TestContext, limits: Partial<SynthesizerLimits> = {}) {
  const log = testLogger();
  const started: Worker[] = [];
  const synthesizer = new Synthesizer(log, limits, () => {
    const worker = new Worker(SCRIPTED, { eval: true });
    started.push(worker);
    return worker;
  });
  context.after(() => synthesizer.close());
  return { synthesizer, log, started };
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

const heard = async (body: AsyncIterable<Uint8Array>): Promise<string> => (await collect(body)).toString();

describe('the real voice', () => {
  test('pieces become one file, after which the place is free', async (context) => {
    const synthesizer = new Synthesizer(testLogger());
    context.after(() => synthesizer.close());
    const one = audioFacts(await collect(synthesizer.speak(utterance(['Hello there.']), testCall())));
    const two = audioFacts(
      await collect(synthesizer.speak(utterance(['Hello there.', 'Good bye.'], { format: 'ogg' }), testCall())),
    );
    assert.ok(one.seconds > 0.4 && two.seconds > one.seconds);
    assert.equal(synthesizer.open, 0);
  });

  test('several at a time get their own words', async (context) => {
    const synthesizer = new Synthesizer(testLogger());
    context.after(() => synthesizer.close());
    const texts = ['One.', 'One hundred and twenty three thousand.', 'Nobody.'];
    const say = (text: string) => collect(synthesizer.speak(utterance([text, text]), testCall()));
    const alone: Buffer[] = [];
    for (const text of texts) alone.push(await say(text));
    const together = await Promise.all(texts.map(say));
    assert.deepEqual(together, alone);
  });

  test('a slow listener is not run ahead of', async (context) => {
    const log = testLogger();
    const synthesizer = new Synthesizer(log);
    context.after(() => synthesizer.close());
    const body = synthesizer.speak(utterance(Array.from({ length: 50 }, () => 'Hello.')), testCall());
    await body.next();
    await sleep(300);
    await body.return();
    const line = log.lines.find(({ message }) => message === 'a speech was not heard to its end');
    const { said = 0, pieces } = (line?.fields ?? {}) as { said?: number; pieces?: number };
    assert.ok(pieces === 50 && said >= 1 && said <= 2, `${said} of ${pieces}`);
  });
});

describe('turns', () => {
  test('utterances take turns piece by piece', async (context) => {
    const { synthesizer } = scripted(context);
    const order: string[] = [];
    const listen = async (name: string, count: number) => {
      const pieces = Array.from({ length: count }, (_, index) => `${name}${index}`);
      for await (const bytes of synthesizer.speak(utterance(pieces), testCall()))
        order.push(Buffer.from(bytes).toString().trim());
    };
    await Promise.all([listen('long', 6), listen('short', 2)]);
    assert.ok(order.indexOf('short1') < order.indexOf('long3'), order.join(' '));
  });

  test('more than there are places are refused, with a time to come back', async (context) => {
    const { synthesizer } = scripted(context, { places: 2 });
    const first = synthesizer.speak(utterance(['a', 'b']), testCall());
    const second = synthesizer.speak(utterance(['a', 'b']), testCall());
    await Promise.all([first.next(), second.next()]);
    await assert.rejects(heard(synthesizer.speak(utterance(['c']), testCall())), (error) => {
      assert.ok(error instanceof SluiceError && error.code === 'overloaded' && error.options.retryAfter === 2);
      return true;
    });
    await first.return();
    assert.equal(await heard(synthesizer.speak(utterance(['c']), testCall())), 'c ');
  });

  test('whoever has long not asked for more makes place', async (context) => {
    const { synthesizer } = scripted(context, { places: 1, stalledMs: 20 });
    const stalled = synthesizer.speak(utterance(['a', 'b', 'c']), testCall());
    await stalled.next();
    await sleep(50);
    assert.equal(await heard(synthesizer.speak(utterance(['d']), testCall())), 'd ');
    await assert.rejects(heard(stalled), { code: 'overloaded' });
  });

  test('nobody makes place who waits for us', async (context) => {
    const { synthesizer } = scripted(context, { places: 1, stalledMs: 0 });
    const body = synthesizer.speak(utterance(['a', 'b']), testCall());
    for (const expected of ['a ', 'b ']) {
      const asked = body.next();
      await assert.rejects(heard(synthesizer.speak(utterance(['c']), testCall())), { code: 'overloaded' });
      const { value } = await asked;
      assert.equal(Buffer.from(value ?? []).toString(), expected);
    }
  });
});

describe('cancelling', () => {
  test('a call that is cancelled ends its speech at once and frees the place', async (context) => {
    const { synthesizer } = scripted(context, { pieceMs: 300 });
    const call = testCall();
    const hung = heard(synthesizer.speak(utterance(['hang']), call));
    const waiting = testCall();
    const queued = heard(synthesizer.speak(utterance(['a']), waiting));
    waiting.cancel(new SluiceError('cancelled', 'gone'));
    await assert.rejects(queued, { code: 'cancelled' });
    call.cancel(new SluiceError('cancelled', 'gone'));
    await assert.rejects(hung, { code: 'cancelled' });
    assert.equal(synthesizer.open, 0);
  });

  test('close ends everything', async (context) => {
    const { synthesizer } = scripted(context);
    const body = heard(synthesizer.speak(utterance(['hang']), testCall()));
    synthesizer.close();
    await assert.rejects(body, { code: 'shutting_down' });
    assert.equal(synthesizer.awake, false);
  });
});

describe('a thread that is lost', () => {
  for (const [word, said, limits] of [
    ['exit', /ended with 3/, {}],
    ['throw', /failed: broken/, {}],
    // The start of a thread counts as well, and the next utterance has to fit in.
    ['hang', /took too long/, { pieceMs: 3_000 }],
  ] as const) {
    test(`${word}: its speech fails, the next one gets a new thread`, async (context) => {
      const { synthesizer, started, log } = scripted(context, limits);
      await assert.rejects(heard(synthesizer.speak(utterance([word]), testCall())), { code: 'provider_failed' });
      assert.ok(log.lines.some(({ level, fields }) => level === 'error' && said.test(JSON.stringify(fields))));
      assert.equal(await heard(synthesizer.speak(utterance(['a', 'b']), testCall())), 'a b ');
      assert.equal(started.length, 2);
      assert.equal(synthesizer.open, 0);
    });
  }

  test('those that have begun are cut, those that wait go on with the new one', async (context) => {
    const { synthesizer } = scripted(context);
    const begun = synthesizer.speak(utterance(['a', 'b', 'c']), testCall());
    await begun.next();
    await sleep(50);
    const fatal = heard(synthesizer.speak(utterance(['exit']), testCall()));
    const waiting = heard(synthesizer.speak(utterance(['d', 'e']), testCall()));
    await assert.rejects(fatal, { code: 'provider_failed' });
    assert.equal(await waiting, 'd e ');
    await assert.rejects(heard(begun), { code: 'upstream_cut' });
  });

  test('a failure inside costs the thread nothing, and stays in the log', async (context) => {
    const { synthesizer, started, log } = scripted(context);
    await assert.rejects(heard(synthesizer.speak(utterance(['fail']), testCall())), (error) => {
      assert.ok(error instanceof SluiceError && !error.message.includes('inner'));
      return true;
    });
    assert.match(JSON.stringify(log.lines), /inner/);
    assert.equal(await heard(synthesizer.speak(utterance(['a']), testCall())), 'a ');
    assert.equal(started.length, 1);
  });
});

test('after a while without work the thread is given back', async (context) => {
  const { synthesizer, started } = scripted(context, { idleMs: 20 });
  await heard(synthesizer.speak(utterance(['a']), testCall()));
  assert.equal(synthesizer.awake, true);
  await sleep(100);
  assert.equal(synthesizer.awake, false);
  assert.equal(await heard(synthesizer.speak(utterance(['b']), testCall())), 'b ');
  assert.equal(started.length, 2);
});

test('nor is it while somebody listens, however slowly, who came before that', { timeout: 60_000 }, async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { synthesizer, started } = scripted(context, { pieceMs: 3_600_000, idleMs: 60_000 });
  await heard(synthesizer.speak(utterance(['a']), testCall()));
  const body = synthesizer.speak(utterance(['b', 'c', 'd']), testCall());
  assert.equal(Buffer.from((await body.next()).value ?? []).toString(), 'b ');
  context.mock.timers.tick(60_000);
  assert.equal(await heard(body), 'c d ');
  assert.equal(started.length, 1);
  context.mock.timers.tick(60_000);
  assert.equal(synthesizer.awake, false);
});
