import assert from 'node:assert/strict';
import dns, { type LookupAddress } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { describe, type TestContext, test } from 'node:test';
import { ask, clientFor, rawServer } from '../../test/support/raw-upstream.ts';

type Done = (error: Error | null, found?: LookupAddress[]) => void;

const HERE: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];
const CLOSED = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx';

const failure = (code: string): Error => Object.assign(new Error(`getaddrinfo ${code} provider.test`), { code });

/** An upstream that closes each connection and is asked by name, and what the system is asked of that name. */
async function named(context: TestContext): Promise<{ origin: string; questions: Done[]; connections: unknown[] }> {
  const { origin, connections } = await rawServer(context, (socket) => void socket.end(CLOSED));
  const questions: Done[] = [];
  context.mock.method(dns, 'lookup', (_name: string, _options: object, done: Done) => void questions.push(done));
  syncBuiltinESMExports();
  context.after(() => {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return { origin: origin.replace('127.0.0.1', 'provider.test'), questions, connections };
}

describe('names of upstreams', () => {
  test('are asked for once at a time, however many connections wait', async (context) => {
    const { origin, questions, connections } = await named(context);
    const client = clientFor(context);
    const answers = Array.from({ length: 5 }, () => ask(client, origin));
    assert.equal(questions.length, 1);
    questions[0]?.(null, HERE);
    assert.deepEqual(await Promise.all(answers), Array(5).fill('200 x'));
    assert.equal(connections.length, 5);
  });

  test('are asked for anew with the next connection, since they move', async (context) => {
    const { origin, questions } = await named(context);
    const client = clientFor(context);
    for (let round = 0; round < 2; round += 1) {
      const answer = ask(client, origin);
      questions[round]?.(null, HERE);
      assert.equal(await answer, '200 x');
    }
    const gone = ask(client, origin);
    questions[2]?.(failure('ENOTFOUND'));
    await assert.rejects(gone, { code: 'upstream_unreachable' });
  });

  test('are what they were while nobody tells', async (context) => {
    const { origin, questions } = await named(context);
    const client = clientFor(context);
    const first = ask(client, origin);
    questions[0]?.(null, HERE);
    await first;
    const second = ask(client, origin);
    questions[1]?.(failure('EAI_AGAIN'));
    assert.equal(await second, '200 x');
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const third = ask(client, origin);
    assert.equal(questions.length, 3);
    context.mock.timers.tick(2_000);
    assert.equal(await third, '200 x');
    // The question is still open, and nobody else's wait begins with another one.
    const fourth = ask(client, origin);
    assert.equal(questions.length, 3);
    questions[2]?.(null, HERE);
    assert.equal(await fourth, '200 x');
  });

  test('that nobody finds in time are what the failure tells of', async (context) => {
    const { origin } = await named(context);
    await assert.rejects(ask(clientFor(context, { connectMs: 50 }), origin), {
      code: 'upstream_timeout',
      message: 'The host name of the provider was not resolved in time.',
    });
  });

  test('of one address do where Node wants no more', async (context) => {
    const { origin, questions } = await named(context);
    const { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } = process.getBuiltinModule('node:net');
    const before = getDefaultAutoSelectFamily();
    setDefaultAutoSelectFamily(false);
    context.after(() => setDefaultAutoSelectFamily(before));
    const answer = ask(clientFor(context), origin);
    questions[0]?.(null, HERE);
    assert.equal(await answer, '200 x');
  });
});
