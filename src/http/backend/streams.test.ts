import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { testCall, testLogger } from '../../../test/support/call.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { Batch } from '../../core/chunk.ts';
import { KeptAnswers, type KeptLimits } from '../../streams/kept-answers.ts';
import type { Deps } from '../deps.ts';
import type { Leave } from '../edge/calls.ts';
import { errorHandler } from '../edge/errors.ts';
import { TypedStream } from './encode.ts';
import { deleteStream, getStream, sendKept } from './streams.ts';

const LIMITS: KeptLimits = {
  unattendedMs: 60_000,
  keptAnswerMs: 60_000,
  keptAnswerBytes: 1_000,
  keptAnswers: 3,
  keptAnswersPerClient: 3,
};

/** A server without routes, and what handlers need of it. */
function serve(context: TestContext, enter: () => Leave | Promise<Leave>): { app: FastifyInstance; deps: Deps } {
  const deps = {
    log: testLogger(),
    secrets: { mask: (text: string) => text },
    config: () => ({ limits: { totalMs: 60_000 } }),
    deadlines: { start: () => ({ clear() {} }) },
    calls: { enter },
  } as unknown as Deps;
  const app = Fastify({ forceCloseConnections: true });
  context.after(() => app.close());
  app.setErrorHandler(errorHandler(deps));
  return { app, deps };
}

test('events that go while a reader waits for its place are gone, and its place is free again', {
  timeout: 30_000,
}, async (context) => {
  const answers = new KeptAnswers(() => LIMITS);
  const answer = answers.open(undefined, testCall());
  answer.events.append('data: first\n\n');
  const place = Promise.withResolvers<Leave>();
  const asked = Promise.withResolvers<void>();
  const given = Promise.withResolvers<void>();
  // As where another process has to be asked.
  const { app, deps } = serve(context, () => {
    asked.resolve();
    return place.promise;
  });
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

test('who reads an answer that is stopped hears so before everything behind it has come to rest', {
  timeout: 30_000,
}, async (context) => {
  let places = 0;
  const { app, deps } = serve(context, () => {
    places += 1;
    return () => {
      places -= 1;
    };
  });
  const answers = new KeptAnswers(() => LIMITS);
  const rest = Promise.withResolvers<void>();
  async function* chunks(): AsyncGenerator<Batch> {
    yield [{ type: 'content', content: 'Hi' }];
    await rest.promise;
  }
  app.post('/conversation', (request, reply) =>
    sendKept(request, reply, deps, answers, {}, async () => ({
      chunks: chunks(),
      encoder: new TypedStream('events'),
      headers: {},
    })),
  );
  app.delete('/streams/:id', deleteStream(answers));
  const origin = await app.listen();
  const response = await fetch(`${origin}/conversation`, { method: 'POST' });
  const id = response.headers.get('x-sluice-stream');
  await (await fetch(`${origin}/streams/${id}`, { method: 'DELETE' })).text();
  assert.match(await response.text(), /"finish":\{"reason":"stopped"\}/);
  assert.equal(places, 1, 'it has its place until all has come to rest');
  rest.resolve();
  await eventually('its place is free', () => places === 0);
});
