import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { tagOfResponse } from '../../src/http/responses/ids.ts';
import { slowUpload } from '../journeys/kept-files-world.ts';
import { filesIn } from '../journeys/kept-world.ts';
import { eventually } from '../support/eventually.ts';
import { dial, listen, statusesIn, talk } from '../support/raw-http.ts';
import { ask, begin, openFilesOf, openWorkers, type WorkersWorld } from './workers-world.ts';

const isLinux = process.platform === 'linux';

/** The sockets below the path that the private one of a worker has: the one that listens, and its connections. */
function privateSockets(id: string): readonly string[] {
  const end = `/${tagOfResponse(id)}.sock`;
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
  return lines.filter((line) => line.endsWith(end)).map((line) => `socket:[${line.trim().split(/\s+/)[6]}]`);
}

/** An answer in the background, which is being made. */
async function inBackground(world: WorkersWorld): Promise<string> {
  const begun = await ask(world.origin, '/v1/responses', { model: 'mock/m', input: 'Hi', background: true });
  await eventually('it is asked', () => world.open.length === 1);
  return JSON.parse(begun.text).id;
}

/** Asks for what a worker has that is stopped. One of the requests may be handed to that worker itself. */
async function askStopped(context: TestContext) {
  const world = await openWorkers(context, { count: 2 });
  const id = await inBackground(world);
  const [listening] = privateSockets(id);
  const owner = world.workers().find((pid) => openFilesOf(pid).some((file) => file === listening));
  assert.ok(owner !== undefined);
  process.kill(owner, 'SIGSTOP');
  const asked = [1, 2].map(() => ask(world.origin, `/v1/responses/${id}/cancel`, {}));
  return { world, id, owner, asked };
}

describe('what one worker passes on to another', { timeout: 300_000, skip: !isLinux }, () => {
  test('is answered by the first, with its body, where the other one dies over it', async (context) => {
    const { id, owner, asked } = await askStopped(context);
    const answers = Promise.allSettled(asked);
    await eventually('one is passed on', () => privateSockets(id).length > 1);
    process.kill(owner, 'SIGKILL');
    const answered = (await answers).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    assert.ok(answered.length > 0);
    for (const { status, text } of answered) assert.deepEqual([status, JSON.parse(text).status], [200, 'failed'], text);
  });

  test('is refused for now where the other one hangs', async (context) => {
    const { world, id, owner, asked } = await askStopped(context);
    const ended = Promise.allSettled(asked);
    const { status, headers, text } = await Promise.any(asked);
    assert.deepEqual([status, headers['retry-after'], JSON.parse(text).error.code], [503, '5', 'overloaded'], text);
    process.kill(owner, 'SIGCONT');
    await ended;
    const again = await ask(world.origin, `/v1/responses/${id}/cancel`, {});
    assert.deepEqual([again.status, JSON.parse(again.text).status], [200, 'cancelled'], again.text);
  });

  test('is that a bucket is deleted: no upload brings it back, whoever takes it', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    const url = `${world.origin}/backend-api/v2/files/both`;
    // New connections go to the workers in turn.
    const uploads = [slowUpload(url), slowUpload(url)];
    for (const each of uploads) {
      each.part('one.txt', 'first');
      each.begin('two.txt');
    }
    await eventually('both are taken in', () => filesIn(`${world.folder}/files/buckets/both`).length === 2);
    const deleted = await fetch(url, { method: 'DELETE' });
    assert.equal(deleted.status, 200, await deleted.text());
    for (const each of uploads) assert.equal(await each.answered, 409);
    assert.equal((await ask(world.origin, '/backend-api/v2/files/both')).status, 404);
    for (const folder of ['buckets', 'uploads']) assert.deepEqual(filesIn(`${world.folder}/files/${folder}`), []);
  });

  test('is nothing where its client leaves while the owner is looked for', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    const bucket = '/backend-api/v2/files/watched';
    const upload = slowUpload(world.origin + bucket);
    upload.part('one.txt', 'first');
    upload.begin('two.txt');
    await eventually('it is taken in', () => filesIn(`${world.folder}/files/buckets/watched`).length === 1);
    const sockets = () =>
      world
        .workers()
        .flatMap(openFilesOf)
        .filter((file) => file.startsWith('socket:')).length;
    const before = sockets();
    // One for each worker: new connections go to them in turn.
    const clients = await Promise.all([dial(world.origin), dial(world.origin)]);
    await eventually('both are taken', () => sockets() === before + 2);
    // It knows who takes the upload.
    process.kill(world.primary, 'SIGSTOP');
    for (const client of clients) client.end(`GET ${bucket}/stream HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await eventually('both have left', () => sockets() === before);
    process.kill(world.primary, 'SIGCONT');
    // What is asked later is answered later.
    const later = await Promise.all([1, 2].map(() => begin(world.origin, `${bucket}/stream`)));
    for (const { leave } of later) leave();
    await eventually('nothing stays open', () => sockets() === before);
    assert.equal(await upload.end('second'), 200);
    process.kill(world.primary, 'SIGTERM');
    const { stdout, stderr } = await world.running.ended;
    assert.doesNotMatch(stdout + stderr, /"level":"error"/);
  });

  test('hears only once it is wanted that a body may come', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    const id = await inBackground(world);
    const head = (...headers: readonly string[]): string =>
      [`POST /v1/responses/${id}/cancel HTTP/1.1`, 'host: localhost', 'expect: 100-continue', ...headers, '', ''].join(
        '\r\n',
      );
    for (let at = 0; at < 4; at += 1) {
      const { text, closed } = await talk(world.origin, head('content-type: text/csv', 'content-length: 100'), {
        quietMs: 30_000,
      });
      assert.deepEqual([statusesIn(text), closed], [[415], true], text);
    }
    for (let at = 0; at < 4; at += 1) {
      const socket = await dial(world.origin);
      socket.write(head('content-type: application/json', 'content-length: 2', 'connection: close'));
      const [first] = (await once(socket, 'data')) as [Buffer];
      assert.equal(first.toString(), 'HTTP/1.1 100 Continue\r\n\r\n');
      const heard = listen(socket, 30_000);
      socket.write('{}');
      const { text } = await heard;
      assert.deepEqual(statusesIn(text), [200], text);
      assert.match(text, /"status":"cancelled"/);
    }
  });
});
