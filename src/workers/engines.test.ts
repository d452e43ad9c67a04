import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testCall, testLogger } from '../../test/support/call.ts';
import { SluiceError } from '../core/errors.ts';
import { Channel, type Message } from './channel.ts';
import { EngineHost, RemoteEngines } from './engines.ts';

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

test('of a question that is taken back at once the primary makes nothing', async () => {
  const host = new EngineHost(testLogger());
  const answers: Message[] = [];
  const answered = Promise.withResolvers<void>();
  const worker = new Channel((messages) => {
    answers.push(...messages);
    answered.resolve();
  });
  host.serve(worker);
  const question = { id: 1, settings: SETTINGS, modelPath: '/models/none.gguf', texts: ['a text'] };
  worker.receive([
    { type: 'ask', id: 7, topic: 'embed', body: question },
    { type: 'tell', topic: 'giveUp', body: 1 },
  ]);
  await answered.promise;
  await host.close();
  const [answer] = answers;
  assert.ok(answer?.type === 'failure');
  assert.equal(answer.failure.code, 'shutting_down', answer.failure.message);
});
