import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testCall } from '../../test/support/call.ts';
import { handDeadlines } from '../../test/support/hand-deadlines.ts';
import type { CallScope } from '../core/call.ts';
import { SluiceError } from '../core/errors.ts';
import type { Deps } from './deps.ts';
import { timed, within } from './perform.ts';

const IDLE_MS = 700;

function world() {
  const hand = handDeadlines();
  const deps = { deadlines: hand.deadlines, config: () => ({ limits: { idleMs: IDLE_MS } }) } as unknown as Deps;
  const call = testCall();
  return { deps, hand, call, scope: call.fork() };
}

/** Never comes by itself. Once the call is cancelled, it fails with words of its own. */
function untilCancelled(scope: CallScope): Promise<never> {
  return new Promise((_resolve, reject) => {
    scope.signal.addEventListener('abort', () => reject(new Error('This operation was aborted')));
  });
}

describe('the wait for an answer', () => {
  test('has an end, also where nobody heeds the signal', async () => {
    const { deps, hand, scope } = world();
    const waiting = within(deps, scope, 300, () => new Promise<never>(() => {}));
    assert.deepEqual(hand.open, [300]);
    hand.expire();
    const expected = { code: 'upstream_timeout', message: 'The provider has not answered within 300 ms.' };
    await assert.rejects(waiting, expected);
    assert.equal((scope.cancelled as SluiceError | undefined)?.code, 'upstream_timeout');
  });

  test('ends with its call, also where nobody heeds the signal', async () => {
    const { deps, hand, call, scope } = world();
    const waiting = within(deps, scope, 300, () => new Promise<never>(() => {}));
    call.cancel();
    await assert.rejects(waiting, { code: 'cancelled' });
    assert.deepEqual(hand.open, []);
  });

  test('ends with the reason of its call, whatever a library makes of it', async () => {
    for (const reason of [undefined, new SluiceError('shutting_down', 'Sluice is shutting down.')]) {
      const { deps, hand, call, scope } = world();
      const waiting = within(deps, scope, 300, () => untilCancelled(scope));
      call.cancel(reason);
      await assert.rejects(waiting, { code: reason?.code ?? 'cancelled' });
      assert.deepEqual(hand.open, []);
    }
  });

  test('is over once the answer is there, and so is its call, unless a stream follows', async () => {
    for (const isOver of [true, false]) {
      const { deps, hand, call, scope } = world();
      assert.equal(
        await within(
          deps,
          scope,
          300,
          async () => 'answer',
          () => isOver,
        ),
        'answer',
      );
      assert.deepEqual(hand.open, []);
      call.cancel();
      assert.equal(scope.cancelled === undefined, isOver, 'only a stream is still called off');
    }
  });

  test('fails as the provider does', async () => {
    const { deps, hand, scope } = world();
    const failing = (): Promise<never> => Promise.reject(new SluiceError('upstream_failed', 'No.'));
    await assert.rejects(within(deps, scope, 300, failing), { code: 'upstream_failed' });
    assert.deepEqual(hand.open, []);
  });
});

describe('the time of a stream', () => {
  async function* pieces(scope: CallScope): AsyncGenerator<string, void> {
    yield 'one';
    yield 'two';
    await untilCancelled(scope);
  }

  test('runs while somebody waits for the provider, and not while the client takes its time', async () => {
    const { deps, hand, scope } = world();
    const stream = timed(pieces(scope), deps, scope);
    for (const piece of ['one', 'two']) {
      const next = stream.next();
      assert.deepEqual(hand.open, [IDLE_MS]);
      assert.equal((await next).value, piece);
      assert.deepEqual(hand.open, [Number.POSITIVE_INFINITY]);
    }
    const last = stream.next();
    assert.deepEqual(hand.open, [IDLE_MS]);
    hand.expire();
    const expected = { code: 'upstream_timeout', message: `The provider has sent nothing for ${IDLE_MS} ms.` };
    await assert.rejects(last, expected);
    assert.deepEqual(hand.open, []);
  });

  test('ends with it, and so does its call, also for who stops early', async () => {
    const { deps, hand, scope } = world();
    for await (const _piece of timed(pieces(scope), deps, scope)) break;
    assert.deepEqual(hand.open, []);
    assert.equal((scope.cancelled as SluiceError | undefined)?.code, 'cancelled');
  });

  test('its failure does not quote the key of the client', async () => {
    const { deps, call } = world();
    const key = 'sk-of-the-client-alone';
    async function* failing(): AsyncGenerator<string, void> {
      yield 'one';
      throw new SluiceError('upstream_failed', `Incorrect API key provided: ${key}`);
    }
    const stream = timed(failing(), deps, call.fork({ apiKey: key }));
    await stream.next();
    await assert.rejects(stream.next(), ({ code, message }: SluiceError) => {
      assert.equal(code, 'upstream_failed');
      assert.match(message, /^Incorrect API key provided: /);
      assert.ok(!message.includes(key), message);
      return true;
    });
  });
});
