import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { dial, listen, statusesIn } from '../support/raw-http.ts';
import { head, saying } from './edge-requests.ts';
import { CHATS, HI, openWorld, type World } from './edge-world.ts';

const MB = 1024 * 1024;

describe('slow clients', { concurrency: true }, () => {
  let world: World;
  before(async () => {
    world = await openWorld({ yaml: 'limits: { clientHeaderMs: 4000, clientBodyIdleMs: 3000, keepAliveMs: 300 }' });
  });
  after(() => world.close());

  const HALVES = {
    nothing: '',
    'half a line': 'POST /v1/cha',
    'half a header': head(CHATS[1].path, 'content-length: 100').slice(0, -30),
    'a header without its end': head(CHATS[1].path, 'content-length: 100').slice(0, -2),
    'no body': head(CHATS[1].path, 'content-length: 100'),
    'half a body': `${head(CHATS[1].path, 'content-length: 100')}{"model":`,
    'half a chunk': `${head(CHATS[1].path, 'transfer-encoding: chunked')}100\r\n{"model":`,
    'chunks without their end': `${head(CHATS[0].path, 'transfer-encoding: chunked')}2\r\n{}\r\n`,
  };

  test('300 of them are cut, and others are answered meanwhile', async () => {
    const slow = await Promise.all(
      Array.from({ length: 304 }, async (_, index) => {
        const [name, start] = Object.entries(HALVES)[index % 8] ?? ['', ''];
        const socket = await dial(world.gateway.origin);
        const heard = listen(socket, 30_000);
        socket.write(start);
        return { name, heard };
      }),
    );
    let cut = 0;
    for (const { heard } of slow) void heard.then(() => (cut += 1));
    for (let round = 0; round < 5; round += 1) await world.isWell();
    assert.ok(cut < 304, 'the test was too slow to see them side by side');
    for (const { name, heard } of slow) {
      const { text, closed } = await heard;
      assert.ok(closed, name);
      assert.deepEqual(statusesIn(text), [408], `${name}: ${text}`);
      assert.match(
        text,
        /\{"error":\{"message":"[^"]+","type":"invalid_request_error","code":"request_timeout","param":null\}\}$/,
      );
    }
  });

  test('whose large bodies stand still hold no other large one up', async (context) => {
    const patient = await openWorld({ yaml: 'limits: { clientBodyIdleMs: 12000 }' });
    context.after(() => patient.close());
    const start = head(CHATS[1].path, `content-length: ${9 * MB}`);
    const slow = await Promise.all(
      Array.from({ length: 16 }, async (_, index) => {
        const socket = await dial(patient.gateway.origin);
        const heard = listen(socket, 60_000);
        socket.write(index % 2 === 0 ? start : `${start}{"model":`);
        return { heard };
      }),
    );
    let cut = 0;
    for (const { heard } of slow) void heard.then(() => (cut += 1));
    const path = CHATS[1].path;
    const headers = { 'content-type': 'application/json' };
    const answer = await patient.ask({ method: 'POST', path, headers, body: saying(2 * MB) });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(cut, 0, 'it had to wait for them');
    for (const { heard } of slow) {
      const { text, closed } = await heard;
      assert.ok(closed);
      assert.deepEqual(statusesIn(text), [408], text);
    }
  });

  test('that never stop quite are served', async () => {
    const body = JSON.stringify(HI);
    const socket = await dial(world.gateway.origin);
    const heard = listen(socket, 10_000);
    socket.write(head(CHATS[1].path, `content-length: ${body.length}`, 'connection: close'));
    // Longer in all than it may be silent.
    for (let at = 0; at < body.length; at += 5) {
      socket.write(body.slice(at, at + 5));
      await sleep(300);
    }
    const { text } = await heard;
    assert.deepEqual(statusesIn(text), [200], text);
  });

  test('that say nothing after an answer are closed without a word', async () => {
    const socket = await dial(world.gateway.origin);
    socket.write('GET /backend-api/v2/version HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const { text, closed } = await listen(socket, 10_000);
    assert.deepEqual(statusesIn(text), [200]);
    assert.ok(closed);
  });

  test('whose body nobody wants are not waited for', async () => {
    const socket = await dial(world.gateway.origin);
    socket.write('GET /backend-api/v2/version HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n');
    const { text, closed } = await listen(socket, 10_000);
    assert.deepEqual(statusesIn(text), [200]);
    assert.ok(closed);
  });
});
