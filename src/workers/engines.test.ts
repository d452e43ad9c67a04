import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testCall } from '../../test/support/call.ts';
import { SluiceError } from '../core/errors.ts';
import { Channel, type Message } from './channel.ts';
import { RemoteEngines } from './engines.ts';

const SETTINGS = { threads: 1, contextLimit: 512, waiting: 8, idleMs: 1_000 };

test('the primary makes no vectors for a client that left before it was asked', async () => {
  const said: Message[] = [];
  const primary = new Channel((messages) => said.push(...messages));
  const call = testCall();
  const left = new SluiceError('cancelled', 'The client closed the connection.');
  call.cancel(left);
  const made = new RemoteEngines(primary).embedder(SETTINGS).embed('/models/a.gguf', ['a text'], call);
  primary.flush();
  // Whoever waits for an answer hears that there will be none.
  primary.close();
  await assert.rejects(made, left);
  assert.deepEqual(said, []);
});
