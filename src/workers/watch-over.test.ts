import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import path from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { watchOver } from './watch-over.ts';

/** Node's own word of an answer that a client of its `http` has got. */
const CLIENT_HEARS = 'http.client.response.finish';

const SKIP = process.platform === 'win32';

describe('the watch over a worker from which an answer is awaited', { skip: SKIP }, () => {
  test('never ends while that answers something, and ends when it does not', async (context) => {
    const server = createServer();
    const socketPath = path.join(temporaryFolder(context), 'w.sock');
    server.listen(socketPath);
    await once(server, 'listening');
    context.after(() => server.closeAllConnections());
    context.after(() => server.close());
    context.mock.timers.enable({ apis: ['setTimeout'] });
    let hung = 0;
    const end = watchOver(socketPath, { host: 'localhost' }, () => {
      hung += 1;
    });
    context.after(end);
    const probed = async (): Promise<ServerResponse> => {
      const asked = once(server, 'request');
      context.mock.timers.tick(5_000);
      const [, response] = (await asked) as [unknown, ServerResponse];
      return response;
    };
    for (let at = 0; at < 10; at += 1) {
      const response = await probed();
      context.mock.timers.tick(9_999);
      const heard = new Promise<void>((done) => {
        const onFinish = (): void => {
          unsubscribe(CLIENT_HEARS, onFinish);
          setImmediate(done);
        };
        subscribe(CLIENT_HEARS, onFinish);
      });
      response.end('ok');
      await heard;
      assert.equal(hung, 0);
    }
    await probed();
    context.mock.timers.tick(9_999);
    assert.equal(hung, 0);
    context.mock.timers.tick(1);
    assert.equal(hung, 1);
  });
});
