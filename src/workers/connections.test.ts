import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import { listen, statusesIn } from '../../test/support/raw-http.ts';
import { Connections } from './connections.ts';

/** A server whose answers the test gives, and one client's connection to it. */
async function opened(context: TestContext) {
  // Nobody else closes a connection that is silent.
  const server = createServer({ keepAliveTimeout: 0 });
  const connections = new Connections(server);
  const asked: ServerResponse[] = [];
  server.on('request', (_request, response) => asked.push(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const ask = async (count: number): Promise<void> => {
    const before = asked.length;
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(count));
    await eventually('they arrive', () => asked.length === before + count);
  };
  return { server, connections, asked, ask, heard: listen(socket, 60_000, 3) };
}

test('of requests that were sent one behind the other every one is answered before a worker has retired', {
  timeout: 120_000,
}, async (context) => {
  const { connections, asked, ask, heard } = await opened(context);
  await ask(2);
  const retired = connections.retire();
  // It was on its way.
  await ask(1);
  for (const response of asked) response.end('answered');
  const { text, closed } = await heard;
  assert.deepEqual([statusesIn(text), closed], [[200, 200, 200], true], text);
  assert.equal(text.match(/^connection: close\r$/gim)?.length, 1);
  await retired;
});

test('the last answer to a connection says so, where no other request comes', { timeout: 120_000 }, async (context) => {
  const { server, connections, asked, ask, heard } = await opened(context);
  await ask(2);
  const retired = connections.retire();
  assert.equal(server.listening, false);
  for (const response of asked) response.end('answered');
  const { text, closed } = await heard;
  assert.deepEqual([statusesIn(text), closed], [[200, 200], true], text);
  assert.equal(text.match(/^connection: close\r$/gim)?.length, 1);
  await retired;
});

test('a connection is not silent while one of several answers on it goes on', {
  timeout: 120_000,
}, async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { connections, asked, ask, heard } = await opened(context);
  await ask(2);
  const [first, second] = asked;
  second?.write('begun, ');
  first?.end();
  await eventually('the first is over', () => first?.closed === true);
  let isRetired = false;
  const retired = connections.retire().then(() => {
    isRetired = true;
  });
  let now = performance.now();
  context.mock.method(performance, 'now', () => now);
  const laterBy = (milliseconds: number): void => {
    now += milliseconds;
    context.mock.timers.tick(1_000);
  };
  laterBy(60_000);
  await turn();
  assert.equal(isRetired, false);
  second?.end('and ended');
  await eventually('the second is over', () => second?.closed === true);
  // Its head did not say that it is the last.
  laterBy(60_000);
  assert.match((await heard).text, /begun, (?:.|\s)*and ended/);
  await eventually('it is closed', () => connections.size === 0);
  laterBy(1_000);
  await retired;
});

test('one on which nobody asks anything is closed, though not at once: a request may be on its way', {
  timeout: 120_000,
}, async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { connections, heard } = await opened(context);
  await eventually('it is there', () => connections.size === 1);
  const retired = connections.retire();
  let now = performance.now();
  context.mock.method(performance, 'now', () => now);
  for (const [later, isSilent] of [
    [1_000, false],
    [10_000, true],
  ] as const) {
    now += later;
    context.mock.timers.tick(1_000);
    if (isSilent) await eventually('it is closed', () => connections.size === 0);
    for (let at = 0; at < 10; at += 1) await turn();
    assert.equal(connections.size, isSilent ? 0 : 1);
  }
  assert.equal((await heard).closed, true);
  context.mock.timers.tick(1_000);
  await retired;
});
