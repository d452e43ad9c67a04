import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, before, describe, type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { dial, listen, statusesIn } from '../support/raw-http.ts';
import { CHATS, holdLinger, openWorld, type World } from './edge-world.ts';

describe('connections on which something came that is no request', () => {
  let world: World;
  before(async () => {
    world = await openWorld({ yaml: 'limits: { chatBodyBytes: 10000 }' });
  });
  after(() => world.close());

  const open = (): Promise<number> =>
    new Promise((resolve, reject) => {
      world.gateway.app.server.server.getConnections((error, count) =>
        error === null ? resolve(count) : reject(error),
      );
    });

  /** A client that does not end its side when the other one does. */
  const dialHalf = async (context: TestContext): Promise<Socket> => {
    const { hostname, port } = new URL(world.gateway.origin);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    context.after(() => socket.destroy());
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  };

  test('end also where the client never ends its side', async (context) => {
    const socket = await dialHalf(context);
    await eventually('it is there', async () => (await open()) === 1);
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
    });
    socket.write('this is no request\r\n\r\n');
    await once(socket, 'end');
    assert.deepEqual(statusesIn(text), [400]);
    await eventually('it is gone', async () => (await open()) === 0);
  });

  test('are not broken off while the client goes on, which would take the answer back from it', async (context) => {
    holdLinger(context);
    const { server } = world.gateway.app.server;
    const broken: boolean[] = [];
    const note = (_error: Error, socket: Duplex): void => {
      broken.push(socket.destroyed);
    };
    server.on('clientError', note);
    context.after(() => server.off('clientError', note));
    const socket = await dialHalf(context);
    for (const times of [1, 2]) {
      socket.write('this is no request\r\n\r\n');
      await eventually('it was read', () => broken.length === times);
    }
    assert.deepEqual(broken, [false, false]);
    assert.deepEqual(statusesIn((await listen(socket, 10_000)).text), [400]);
  });

  test('have no second answer where it is the rest of a request that was refused', async () => {
    const socket = await dial(world.gateway.origin);
    const heard = listen(socket, 10_000);
    let text = '';
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
    });
    for (const line of [
      `POST ${CHATS[1].path} HTTP/1.1`,
      'host: localhost',
      'content-type: application/json',
      'transfer-encoding: chunked',
      '',
      '4e20',
      ' '.repeat(20_000),
    ])
      socket.write(`${line}\r\n`);
    await eventually('the refusal', () => text.includes('"code":"too_large"'));
    socket.write('no chunk\r\n');
    const { text: all, closed } = await heard;
    assert.deepEqual(statusesIn(all), [413], all);
    assert.ok(closed);
  });
});
