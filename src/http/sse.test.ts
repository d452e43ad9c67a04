import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import { plainServer } from '../../test/support/plain-server.ts';
import { EventStream, Heartbeats } from './sse.ts';

test('a client that does not read gets no signs of life, and one that has caught up does', async (context) => {
  const answering = Promise.withResolvers<ServerResponse>();
  const { url } = await plainServer(context, (_request, response) => {
    answering.resolve(response.writeHead(200));
  });
  const client = get(url);
  context.after(() => client.destroy());
  const answer = once(client, 'response') as Promise<[IncomingMessage]>;
  const response = await answering.promise;
  const stream = new EventStream(response, new Heartbeats(() => 3_600_000), () => {});
  while (stream.write('x'.repeat(64 * 1024))) await nextTurn();
  const waiting = response.writableLength;
  stream.beat();
  assert.equal(response.writableLength, waiting);
  let last = '';
  (await answer)[0].setEncoding('utf8').on('data', (text: string) => {
    last = text;
  });
  await eventually('one is heard', () => {
    stream.beat();
    return last.endsWith(': ping\n\n');
  });
});
