import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { testCall } from '../../../test/support/call.ts';
import { Calls, type Leave } from './calls.ts';
import { OwnPlaces, type Places } from './places.ts';

const HERE = '127.0.0.1';

/** Runs two answers in all, and one for each client. */
function open(limits = { streams: 2, streamsPerClient: 1 }) {
  const calls = new Calls(new OwnPlaces(() => limits));
  return { calls, enter: (address: string): Leave => calls.enter(testCall(), address) as Leave, limits };
}

const full = { code: 'overloaded', message: /answering 2 requests already/, options: { retryAfter: 1 } };
const share = { code: 'rate_limited', message: /at most 1 answers at once/, options: { retryAfter: 1 } };

describe('places', () => {
  test('have an end, in all and for one client, and are free again once, however often they are left', () => {
    const { calls, enter } = open();
    const first = enter('10.0.0.1');
    assert.throws(() => enter('10.0.0.1'), share);
    assert.throws(() => enter('10.0.0.1'), share);
    const second = enter('10.0.0.2');
    assert.throws(() => enter('10.0.0.3'), full);
    assert.throws(() => enter('10.0.0.1'), full);
    assert.equal(calls.running, 2);
    for (const _ of [1, 2]) first();
    assert.equal(calls.running, 1);
    const third = enter('10.0.0.1');
    assert.throws(() => enter('10.0.0.3'), full);
    for (const leave of [second, third]) leave();
    assert.equal(calls.running, 0);
  });

  test('leave nothing of their clients behind', (context) => {
    const { enter } = open();
    const forgotten = context.mock.method(Map.prototype, 'delete');
    enter('10.0.0.1')();
    assert.ok(forgotten.mock.calls.some(({ arguments: [client] }) => client === '10.0.0.1'));
  });

  test('of programs on this machine count in all only', () => {
    const { enter } = open();
    const leaves = [enter(HERE), enter('::ffff:127.0.0.1')];
    assert.throws(() => enter(HERE), full);
    for (const leave of leaves) leave();
    for (const address of ['::1', HERE]) enter(address);
    assert.throws(() => enter(HERE), full);
  });

  test('are counted for a client with several', () => {
    const { enter, limits } = open({ streams: 9, streamsPerClient: 2 });
    const [first, second] = [enter('10.0.0.1'), enter('10.0.0.1')];
    first?.();
    const third = enter('10.0.0.1');
    assert.throws(() => enter('10.0.0.1'), { code: 'rate_limited' });
    for (const leave of [second, third]) leave?.();
    limits.streamsPerClient = 1;
    enter('10.0.0.1');
    assert.throws(() => enter('10.0.0.1'), share);
  });
});

describe('shutting down', () => {
  test('waits for every answer, and ends none that ends in time', async () => {
    const { calls } = open();
    const [one, other] = [testCall(), testCall()];
    const leaves = [one, other].map((call) => calls.enter(call, HERE) as Leave);
    assert.equal(calls.draining, false);
    let isOver = false;
    const drained = calls.drain(60_000).then(() => {
      isOver = true;
    });
    assert.equal(calls.draining, true);
    leaves[0]?.();
    await immediate();
    assert.equal(isOver, false);
    leaves[1]?.();
    await drained;
    assert.deepEqual([one.cancelled, other.cancelled], [undefined, undefined]);
  });

  test('is over at once where nothing runs', async () => {
    const { calls } = open();
    await calls.drain(60_000);
    assert.equal(calls.draining, true);
  });

  test('ends what is late, and waits for its last words', async () => {
    const { calls } = open();
    const call = testCall();
    const leave = calls.enter(call, HERE) as Leave;
    let isOver = false;
    const drained = calls.drain(1).then(() => {
      isOver = true;
    });
    const reason = await new Promise((resolve) => {
      call.onCancel(resolve);
    });
    assert.equal((reason as { code?: string }).code, 'shutting_down');
    await immediate();
    assert.equal(isOver, false);
    leave();
    await drained;
  });

  test('waits no longer for what does not end though it was told to', { timeout: 20_000 }, async () => {
    const { calls } = open();
    const call = testCall();
    await calls.enter(call, HERE);
    await calls.drain(1);
    assert.ok(call.signal.aborted);
    assert.equal(calls.running, 1);
  });

  test('gives back a place that comes too late', async () => {
    const given: (string | undefined)[] = [];
    const asked = Promise.withResolvers<void>();
    const places: Places = { take: () => asked.promise, give: (client) => given.push(client) };
    const calls = new Calls(places);
    const entered = calls.enter(testCall(), '10.0.0.1');
    await calls.drain(60_000);
    asked.resolve();
    await assert.rejects(Promise.resolve(entered), { code: 'shutting_down', options: { retryAfter: 5 } });
    assert.deepEqual(given, ['10.0.0.1']);
    assert.equal(calls.running, 0);
  });

  test('does not hold up a place that comes in time', async () => {
    const places: Places = { take: () => Promise.resolve(), give: () => {} };
    const calls = new Calls(places);
    const leave = await calls.enter(testCall(), '10.0.0.1');
    assert.equal(calls.running, 1);
    leave();
    assert.equal(calls.running, 0);
  });
});
