import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { testLogger } from '../../../test/support/call.ts';
import { SluiceError } from '../../core/errors.ts';
import { Secrets } from '../../core/secrets.ts';
import { errorHandler } from './errors.ts';

function serverThatThrows(thrown: unknown) {
  const log = testLogger();
  const secrets = new Secrets();
  secrets.use(['planted-secret']);
  const app = Fastify();
  app.setErrorHandler(errorHandler({ secrets, log }));
  app.get('/', async () => {
    throw thrown;
  });
  return { app, log };
}

test('what nobody foresaw is logged with its request id, and told without its text', async () => {
  const thrown = new TypeError('reading /etc/internals failed');
  const { app, log } = serverThatThrows(thrown);
  const answer = await app.inject('/');
  assert.equal(answer.statusCode, 500);
  assert.equal(answer.json().error.code, 'internal');
  assert.ok(!answer.body.includes('internals'));
  const [line, ...more] = log.lines;
  assert.deepEqual(more, []);
  assert.equal(line?.level, 'error');
  const { error, id } = line.fields as { error?: unknown; id?: unknown };
  assert.equal(error, thrown);
  assert.ok(typeof id === 'string' && id !== '');
});

test('errors of ours are told as they are, without secrets, and leave no line', async () => {
  const { app, log } = serverThatThrows(
    new SluiceError('rate_limited', 'not so fast, planted-secret', { retryAfter: 7 }),
  );
  const answer = await app.inject('/');
  assert.equal(answer.statusCode, 429);
  assert.equal(answer.headers['retry-after'], '7');
  assert.equal(answer.json().error.message, 'not so fast, ***');
  assert.deepEqual(log.lines, []);
});
