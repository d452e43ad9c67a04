import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { testLogger } from '../../test/support/call.ts';
import type { SluiceError } from '../core/errors.ts';
import { withCall } from './answer.ts';
import type { Deps } from './deps.ts';

test('an answer that fails before it has begun in any way gives its place back', async () => {
  const { request, reply, deps, open } = world();
  const run = (): never => {
    throw new Error('at once');
  };
  await assert.rejects(async () => withCall(request, reply, deps, {}, run), { message: 'at once' });
  assert.deepEqual(open(), { places: 0, timers: 0, listeners: 0 });
});

for (const [isWhole, what] of [
  [true, 'a connection that closes after the last byte of an answer cancels nothing'],
  [false, 'a connection that closes before the last byte of an answer cancels it'],
] as const) {
  test(what, async () => {
    const { request, reply, deps, open } = world();
    let cancelled: Error | undefined;
    await withCall(request, reply, deps, {}, async (call) => {
      Object.assign(reply.raw, { writableFinished: isWhole });
      reply.raw.emit('close');
      ({ cancelled } = call);
    });
    assert.equal(cancelled === undefined, isWhole);
    assert.deepEqual(open(), { places: 0, timers: 0, listeners: 0 });
  });
}

test('an answer whose client left before it could begin is cancelled from the first, and takes no place', async () => {
  const { request, reply, deps, open } = world();
  Object.assign(reply.raw, { destroyed: true });
  let cancelled: Error | undefined;
  await withCall(request, reply, deps, {}, async (call) => {
    ({ cancelled } = call);
  });
  assert.equal((cancelled as SluiceError | undefined)?.code, 'cancelled');
  const { places, timers } = open();
  assert.deepEqual({ places, timers }, { places: 0, timers: 0 });
});

/** What an answer needs of a server, and what of it is still taken. */
function world() {
  let places = 0;
  let timers = 0;
  const deps = {
    log: testLogger(),
    config: () => ({ limits: { totalMs: 1_000 } }),
    deadlines: {
      start() {
        timers += 1;
        return { clear: () => (timers -= 1) };
      },
    },
    calls: {
      enter() {
        places += 1;
        return () => (places -= 1);
      },
    },
  } as unknown as Deps;
  const request = { id: 'r', headers: {}, socket: { remoteAddress: '127.0.0.1' } } as FastifyRequest;
  const reply = { raw: new EventEmitter(), request } as unknown as FastifyReply;
  return { request, reply, deps, open: () => ({ places, timers, listeners: reply.raw.listenerCount('close') }) };
}
