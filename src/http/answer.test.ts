import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { testLogger } from '../../test/support/call.ts';
import { withCall } from './answer.ts';
import type { Deps } from './deps.ts';

test('an answer that fails before it has begun in any way gives its place back', async () => {
  let taken = 0;
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
        taken += 1;
        return () => (taken -= 1);
      },
    },
  } as unknown as Deps;
  const request = { id: 'r', headers: {}, ip: '127.0.0.1' } as FastifyRequest;
  const reply = { raw: new EventEmitter(), request } as unknown as FastifyReply;
  const run = (): never => {
    throw new Error('at once');
  };
  await assert.rejects(async () => withCall(request, reply, deps, {}, run), { message: 'at once' });
  assert.deepEqual([taken, timers, reply.raw.listenerCount('close')], [0, 0, 0]);
});
