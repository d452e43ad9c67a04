import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { testCall, testLogger } from '../../../test/support/call.ts';
import { KeptAnswers, type KeptLimits } from '../../streams/kept-answers.ts';
import type { Deps } from '../deps.ts';
import type { Leave } from '../edge/calls.ts';
import { errorHandler } from '../edge/errors.ts';
import { getStream } from './streams.ts';

const LIMITS: KeptLimits = {
  unattendedMs: 60_000,
  keptAnswerMs: 60_000,
  keptAnswerBytes: 1_000,
  keptAnswers: 3,
  keptAnswersPerClient: 3,
};

test('events that go while a reader waits for its place are gone, and its place is free again', {
  timeout: 30_000,
}, async (context) => {
  const answers = new KeptAnswers(() => LIMITS);
  const answer = answers.open(undefined, testCall());
  answer.events.append('data: first\n\n');
  const place = Promise.withResolvers<Leave>();
  const asked = Promise.withResolvers<void>();
  const given = Promise.withResolvers<void>();
  const deps = {
    log: testLogger(),
    secrets: { mask: (text: string) => text },
    config: () => ({ limits: { totalMs: 60_000 } }),
    deadlines: { start: () => ({ clear() {} }) },
    // As where another process has to be asked.
    calls: {
      enter() {
        asked.resolve();
        return place.promise;
      },
    },
  } as unknown as Deps;
  const app = Fastify({ forceCloseConnections: true });
  context.after(() => app.close());
  app.setErrorHandler(errorHandler(deps));
  app.get('/streams/:id', getStream(deps, answers));
  const reading = fetch(`${await app.listen()}/streams/${answer.id}?after=0`);
  await asked.promise;
  answer.events.append('data: more\n\n'.repeat(1_000));
  assert.ok(answer.events.dropped > 0);
  place.resolve(given.resolve);
  const response = await reading;
  const { error } = (await response.json()) as { readonly error: { readonly code: string; readonly message: string } };
  assert.deepEqual([response.status, error.code], [410, 'gone']);
  assert.match(error.message, new RegExp(`after=${answer.events.dropped}'`));
  await given.promise;
  answer.end();
  assert.ok(answer.isSpare, 'nobody reads it');
});
