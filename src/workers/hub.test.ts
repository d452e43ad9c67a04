import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testLogger } from '../../test/support/call.ts';
import { Channel, type Message } from './channel.ts';
import type { Member } from './fleet.ts';
import { Hub, type HubDeps } from './hub.ts';

test('a worker that hangs keeps nobody waiting for ever who has news for it', { timeout: 60_000 }, async (context) => {
  // The time that is waited keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  context.after(() => clearInterval(alive));
  const asked: Message[] = [];
  const channel = new Channel((messages) => asked.push(...messages));
  const hub = new Hub({ limits: assert.fail, log: testLogger(), patienceMs: 50 } as unknown as HubDeps);
  const member = { channel, state: 'serving' } as Member;
  hub.join(member);
  assert.equal(await hub.inform(member, { type: 'cookies' }), undefined);
  assert.deepEqual(await hub.tell({ type: 'cookies' }), []);
  assert.equal(asked.length, 2);
});
