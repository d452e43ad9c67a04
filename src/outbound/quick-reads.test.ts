import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { allOver, clientFor, rawServer } from '../../test/support/raw-upstream.ts';
import type { UpstreamClient } from './upstream.ts';

/** Sends parts of an answer, each once the one before was read, and tells what was read of it. */
class Spoken {
  readonly got: string[] = [];
  readonly ended = Promise.withResolvers<void>();
  readonly connections: Socket[];
  readonly exchange: ReturnType<UpstreamClient['send']>;

  private constructor(client: UpstreamClient, origin: string, connections: Socket[]) {
    this.connections = connections;
    this.ended.promise.catch(() => {});
    this.exchange = client.send(
      { origin, path: '/', method: 'GET', headers: {} },
      {
        onHead() {},
        onData: (bytes) => void this.got.push(bytes.toString()),
        onEnd: () => this.ended.resolve(),
        onError: (error) => this.ended.reject(error),
      },
    );
  }

  static async begin(context: TestContext, type = 'text/event-stream; charset=utf-8'): Promise<Spoken> {
    const asked = Promise.withResolvers<void>();
    const { origin, connections } = await rawServer(context, () => asked.resolve());
    const spoken = new Spoken(clientFor(context), origin, connections);
    await asked.promise;
    await spoken.send(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n\r\nfirst`);
    await spoken.read('first');
    return spoken;
  }

  /** Resolves when the system has it, and what waits for it had its turns. */
  async send(text: string): Promise<void> {
    const [socket] = this.connections;
    assert.ok(socket);
    await new Promise((resolve) => socket.write(text, resolve));
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  }

  async read(last: string): Promise<void> {
    while (!this.got.at(-1)?.endsWith(last)) await nextTurn();
  }
}

/** A clock that stands still but for what is added to it, and timers that fire when they are told to. */
function clockOf(context: TestContext): { now: number } {
  const clock = { now: 1_000_000 };
  context.mock.method(performance, 'now', () => clock.now);
  context.mock.timers.enable({ apis: ['setTimeout'] });
  return clock;
}

/** A stream whose next read is put off. */
async function quickly(context: TestContext): Promise<Spoken> {
  const spoken = await Spoken.begin(context);
  for (const word of [' second', ' third']) {
    await spoken.send(word);
    await spoken.read(word);
  }
  return spoken;
}

describe('reads of a stream that follow each other quickly', () => {
  test('bring together what comes within the next millisecond', async (context) => {
    clockOf(context);
    const spoken = await quickly(context);
    await spoken.send(' fourth');
    await spoken.send(' fifth');
    assert.deepEqual(spoken.got, ['first', ' second', ' third']);
    context.mock.timers.tick(1);
    await spoken.read('fifth');
    assert.deepEqual(spoken.got.slice(3), [' fourth fifth']);
    await spoken.send(' sixth');
    assert.equal(spoken.got.length, 4);
    spoken.connections[0]?.end();
    context.mock.timers.tick(1);
    await spoken.read('sixth');
    context.mock.timers.tick(1);
    await spoken.ended.promise;
  });

  test('wait for nothing where others come in between', async (context) => {
    const clock = clockOf(context);
    const spoken = await Spoken.begin(context);
    for (let word = 0; word < 20; word += 1) {
      clock.now += word % 2 === 0 ? 4 : 3;
      await spoken.send(`${word};`);
      await spoken.read(`${word};`);
    }
    assert.equal(spoken.got.length, 21);
  });

  test('wait for nothing where they bring much', async (context) => {
    clockOf(context);
    const spoken = await Spoken.begin(context);
    for (let word = 0; word < 10; word += 1) {
      await spoken.send(`${'x'.repeat(16 * 1024)}${word};`);
      await spoken.read(`${word};`);
    }
  });

  test('wait for nothing in answers that are no streams', async (context) => {
    clockOf(context);
    const spoken = await Spoken.begin(context, 'application/json');
    for (let word = 0; word < 10; word += 1) {
      await spoken.send(`${word};`);
      await spoken.read(`${word};`);
    }
  });

  test('stay put off for one who wants nothing now', async (context) => {
    clockOf(context);
    const spoken = await quickly(context);
    spoken.exchange.pause();
    await spoken.send(' fourth');
    context.mock.timers.tick(10);
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    assert.equal(spoken.got.length, 3);
    spoken.exchange.resume();
    await spoken.read('fourth');
  });

  test('hold nobody who leaves', async (context) => {
    clockOf(context);
    const spoken = await quickly(context);
    const [socket] = spoken.connections;
    assert.ok(socket);
    const closed = once(socket, 'close');
    spoken.exchange.abort();
    await closed;
    context.mock.timers.tick(1);
    await allOver(spoken.connections);
  });
});
