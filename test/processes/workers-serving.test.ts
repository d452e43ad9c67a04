import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { startImageUpstream } from '../support/image-upstream.ts';
import { automatic1111Vendor } from '../support/image-vendors.ts';
import { dial } from '../support/raw-http.ts';
import { startSluice } from '../support/run-sluice.ts';
import { usageLines } from '../support/usage.ts';
import {
  allPlacesAreFree,
  ask,
  begin,
  END,
  type Going,
  isAlive,
  openFilesOf,
  openWorkers,
  piece,
  QUESTION,
  stream,
} from './workers-world.ts';

const isLinux = process.platform === 'linux';
/** All programs on this machine share one address, which counts for nobody; this one counts. */
const address = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

/** HTTP/1.0 knows no chunks: the end of the connection is that of the answer. */
async function readAsBefore(origin: string, path: string): Promise<void> {
  const socket = await dial(origin);
  let text = '';
  socket.setEncoding('latin1').on('data', (more: string) => {
    text += more;
  });
  socket.write(`GET ${path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n`);
  await eventually('the second piece', () => /"second"/.test(text));
  socket.destroy();
  assert.match(text, /^HTTP\/1\.1 200 (?!.*transfer-encoding).*\r\n\r\nid: 1\n/is);
}

describe('several workers', { timeout: 240_000, skip: !isLinux }, () => {
  test('the limit of streams holds exactly over all of them, and places come back', async (context) => {
    const world = await openWorkers(context, { yaml: 'limits: { streams: 10 }' });
    for (let round = 0; round < 2; round += 1) {
      const all = await Promise.all(Array.from({ length: 40 }, () => stream(world.origin)));
      const running = all.filter(({ status }) => status === 200);
      const refused = await Promise.all(all.filter(({ status }) => status === 503).map(({ whole }) => whole));
      assert.deepEqual([running.length, refused.length], [10, 30]);
      for (const text of refused) assert.match(text, /Sluice is answering 10 requests already/);
      for (const response of [...world.open]) response.end(END);
      for (const { whole } of running) assert.match(await whole, /\[DONE\]/);
      await allPlacesAreFree(world.origin);
    }
    // The places of a worker that is killed come back too.
    const held = await Promise.all(Array.from({ length: 10 }, () => stream(world.origin)));
    assert.ok(held.every(({ status }) => status === 200));
    let lost = 0;
    // One worker alone may have all of them where the machine is busy.
    for (const victim of world.workers()) {
      process.kill(victim, 'SIGKILL');
      await eventually('it is gone', () => !isAlive(victim));
      await eventually('another took its place', () => world.workers().length === 3);
      const cut = await Promise.allSettled(held.map(({ whole }) => Promise.race([whole, sleep(100, 'running')])));
      lost = cut.filter(({ status }) => status === 'rejected').length;
      if (lost > 0) break;
    }
    assert.ok(lost > 0, 'some worker had streams');
    await eventually('upstream hears of it', () => world.open.length === 10 - lost);
    const more = await Promise.all(Array.from({ length: 20 }, () => stream(world.origin)));
    assert.equal(more.filter(({ status }) => status === 200).length, lost);
  });

  test('so does the limit of one client', { skip: address === undefined }, async (context) => {
    const words = ['--bind', '0.0.0.0:0', '--no-key'];
    const world = await openWorkers(context, { yaml: 'limits: { streamsPerClient: 4 }', words });
    const { port } = new URL(world.origin);
    for (let round = 0; round < 2; round += 1) {
      const all = await Promise.all(Array.from({ length: 12 }, () => stream(`http://${address}:${port}`)));
      const counts = [200, 429].map((wanted) => all.filter(({ status }) => status === wanted).length);
      assert.deepEqual(counts, [4, 8]);
      assert.equal((await ask(`http://127.0.0.1:${port}`, '/v1/chat/completions', QUESTION)).status, 200);
      for (const response of [...world.open]) response.end(END);
      await Promise.all(all.map(({ whole }) => whole));
      await allPlacesAreFree(`http://127.0.0.1:${port}`);
    }
  });

  test('what is written through any of them is there for all, by one writer', async (context) => {
    const world = await openWorkers(context);
    const ids = Array.from({ length: 30 }, (_, index) => `chat-${index}`);
    const writes = ids.map((id, index) =>
      Promise.all([
        ask(world.origin, `/backend-api/v2/chat/${id}`, { id, text: `Chat ${index}` }),
        ask(world.origin, '/backend-api/v2/memory/u', { items: [{ role: 'user', content: `Statement ${index}` }] }),
        ask(world.origin, '/v1/chat/completions', QUESTION),
      ]),
    );
    for (const answers of await Promise.all(writes)) {
      for (const { status, text } of answers) assert.equal(status, 200, text);
    }
    for (const [index, id] of ids.entries()) {
      const { status, text } = await ask(world.origin, `/backend-api/v2/chat/${id}`);
      assert.equal(status, 200);
      assert.match(text, new RegExp(`Chat ${index}\\b`));
    }
    const memory = await ask(world.origin, '/backend-api/v2/memory/u?limit=100');
    assert.equal(JSON.parse(memory.text).count, 30, memory.text);
    await eventually('all usage is written', async () => (await usageLines(world.origin)).length === 30);
    const writers = [world.primary, ...world.workers()].filter((pid) =>
      openFilesOf(pid).some((file) => file.endsWith('sluice.db')),
    );
    assert.deepEqual(writers, [world.primary]);
  });

  test('a picture that nobody waits for is not called off where it may be that of another one', async (context) => {
    const studio = await startImageUpstream(context, automatic1111Vendor({ pictures: [], endless: true }));
    const folder = temporaryFolder(context);
    const yaml = `detectLocal: false\nembedded: { enabled: false }\nproviders: { automatic1111: { baseUrl: '${studio.origin}' } }\n`;
    writeFileSync(path.join(folder, 'sluice.yaml'), yaml);
    const running = startSluice(context, ['--bind', '127.0.0.1:0', '--workers', '2'], { folder });
    const [, address = ''] = await running.said(/Page +http:\/\/([^/\s]+)\//);
    for (const round of [1, 2, 3]) {
      const gone = new AbortController();
      const asked = fetch(`http://${address}/v1/images/generations`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider: 'automatic1111', model: 'a', prompt: 'x' }),
        signal: gone.signal,
      });
      await eventually('it is drawn', () => studio.at('/sdapi/v1/txt2img').length === round);
      gone.abort();
      await assert.rejects(asked);
    }
    assert.equal(studio.at('/sdapi/v1/interrupt').length, 0);
  });

  test('numbers, log and insights are those of all', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    for (let at = 0; at < 12; at += 1)
      assert.equal((await ask(world.origin, '/v1/chat/completions', QUESTION)).status, 200);
    const held = await Promise.all([stream(world.origin), stream(world.origin), stream(world.origin)]);
    for (let at = 0; at < 4; at += 1) {
      const { text } = await ask(world.origin, '/metrics');
      const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
      assert.match(text, /^sluice_requests_total\{method="POST",route="\/v1\/chat\/completions".*status="200"\} 12$/m);
      assert.match(text, /^sluice_request_duration_seconds_count\{.*\} 12$/m);
      assert.deepEqual([value('sluice_requests_running'), value('sluice_streams_running')], [3, 3]);
      assert.ok(value('process_resident_memory_bytes') > 200e6, 'three processes');
      assert.equal(text.match(/^# TYPE process_open_fds /gm)?.length, 1);
      const log = JSON.parse((await ask(world.origin, '/backend-api/v2/requests?limit=100')).text);
      assert.deepEqual([log.total, log.kept, log.requests.length], [12, 12, 12]);
      assert.equal((await ask(world.origin, `/backend-api/v2/requests/${log.requests[at].id}`)).status, 200);
      const stats = JSON.parse((await ask(world.origin, '/backend-api/v2/stats')).text);
      assert.equal(stats.insights.all.requests, 12);
      assert.equal(typeof stats.insights.all.duration_ms.p50, 'number');
      const [provider] = JSON.parse((await ask(world.origin, '/backend-api/v2/providers')).text);
      assert.deepEqual([provider.name, provider.live], ['mock', 15], 'those whose answers have begun');
    }
    for (const { leave } of held) leave();
    assert.equal(
      JSON.parse((await ask(world.origin, '/backend-api/v2/requests', undefined, { method: 'DELETE' })).text).count >=
        12,
      true,
    );
  });

  test('the processor time in the metrics never falls, whether a worker is killed or retires', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    const seconds = async (): Promise<number> => {
      const { text } = await ask(world.origin, '/metrics');
      return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
    };
    let before = await seconds();
    const isNotLess = async (when: string): Promise<void> => {
      const now = await seconds();
      assert.ok(now >= before, `${now} s after ${before} s, ${when}`);
      before = now;
    };
    process.kill(world.workers()[0] ?? assert.fail('it runs'), 'SIGKILL');
    await world.running.said(/a worker ended unexpectedly/);
    // The other one is not yet replaced: it is the time of two processes, and was that of three.
    await isNotLess('one was killed');
    await world.running.said(/(?:a worker serves[\s\S]*){3}/);
    const old = world.workers();
    world.running.process.kill('SIGHUP');
    await world.running.said(/all workers are new/);
    await eventually('the old ones are gone', () => old.every((pid) => !isAlive(pid)));
    await isNotLess('all were replaced');
  });

  test('a resumable answer is read, and stopped, through any of them', async (context) => {
    const world = await openWorkers(context);
    const asked = { provider: 'mock', model: 'm', messages: QUESTION.messages, resumable: true };
    const begun = await begin(world.origin, '/backend-api/v2/conversation', asked);
    const id = String(begun.headers['x-sluice-stream']);
    assert.match(id, /^[0-9a-f]{36}$/);
    begun.leave();
    const path = `/backend-api/v2/streams/${id}`;
    const readers: Going[] = [];
    for (let at = 0; at < 6; at += 1) readers.push(await begin(world.origin, path));
    for (const { status, headers } of readers) {
      assert.equal(status, 200);
      assert.equal(headers['x-sluice-stream'], id);
      assert.match(String(headers['content-type']), /event-stream/);
    }
    for (const { text } of readers) await eventually('the first piece', () => /"first"/.test(text()));
    world.open[0]?.write(piece('second'));
    for (const { text } of readers) await eventually('the second piece', () => /"second"/.test(text()));
    for (let at = 0; at < 3; at += 1) await readAsBefore(world.origin, path);
    const count = Number([...(readers[0]?.text() ?? '').matchAll(/^id: (\d+)$/gm)].at(-1)?.[1]);
    readers.pop()?.leave();
    for (let at = 0; at < 3; at += 1) {
      const refused = await ask(world.origin, path, undefined, { headers: { 'last-event-id': String(count + 5) } });
      assert.equal(refused.status, 400, 'Last-Event-ID arrives');
    }
    const refusals = async (): Promise<number> => {
      const { text } = await ask(world.origin, '/metrics');
      return Number(
        /^sluice_requests_total\{method="GET",route="[^"]*streams[^"]*".*status="400"\} (\d+)$/m.exec(text)?.[1],
      );
    };
    await eventually('the refusals are counted', async () => (await refusals()) >= 3);
    assert.equal(await refusals(), 3, 'each once, whoever took it');
    const stopped = await ask(world.origin, path, undefined, { method: 'DELETE' });
    assert.deepEqual(JSON.parse(stopped.text), { id, stopped: true });
    for (const { whole } of readers) assert.match(await whole, /stopped/);
    await eventually('the upstream hears of it', () => world.open.length === 0);
    for (let at = 0; at < 3; at += 1) {
      const rest = await ask(world.origin, path, undefined, { headers: { 'last-event-id': String(count) } });
      assert.match(rest.text, /stopped/);
      const unknown = await ask(world.origin, `/backend-api/v2/streams/00ff${'0'.repeat(32)}`);
      assert.equal(unknown.status, 404);
    }
  });

  test('an answer of the Responses API in the background is read and cancelled through any of them', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    const begun = await ask(world.origin, '/v1/responses', { model: 'mock/m', input: 'Hi', background: true });
    const { id } = JSON.parse(begun.text);
    assert.match(id, /^resp_[0-9a-f]{48}$/);
    await eventually('it is asked', () => world.open.length === 1);
    for (let at = 0; at < 4; at += 1) {
      const { text } = await ask(world.origin, `/v1/responses/${id}`);
      assert.equal(JSON.parse(text).status, 'in_progress', text);
      const next = await ask(world.origin, '/v1/responses', {
        model: 'mock/m',
        input: 'And',
        previous_response_id: id,
      });
      assert.equal(next.status, 400, next.text);
    }
    const { text: metrics } = await ask(world.origin, '/metrics');
    assert.match(metrics, /^sluice_requests_total\{method="GET",route="\/v1\/responses\/:id".*status="200"\} 4$/m);
    const cancelled = await Promise.all(
      [1, 2, 3].map(() => ask(world.origin, `/v1/responses/${id}/cancel`, undefined, { method: 'POST' })),
    );
    for (const { text } of cancelled) assert.equal(JSON.parse(text).status, 'cancelled', text);
    await eventually('closed upstream', () => world.open.length === 0);
  });

  test('an answer whose worker was killed has ended, and can be gone on from', async (context) => {
    const world = await openWorkers(context, { count: 2, play: (response) => void response });
    const begun = await ask(world.origin, '/v1/responses', { model: 'mock/m', input: 'Hi', background: true });
    const { id } = JSON.parse(begun.text);
    await eventually('it is asked', () => world.open.length === 1);
    const isKnown = async (): Promise<boolean> => {
      const { text } = await ask(world.origin, `/v1/responses/${id}`);
      return JSON.parse(text).status === 'failed';
    };
    for (const [index, victim] of world.workers().entries()) {
      process.kill(victim, 'SIGKILL');
      await world.running.said(new RegExp(`(?:a worker serves[^]*){${3 + index}}`));
      if (await isKnown()) break;
    }
    assert.ok(await isKnown(), 'its worker was killed');
    const next = { model: 'mock/m', input: 'And', previous_response_id: id, background: true };
    const { status, text } = await ask(world.origin, '/v1/responses', next);
    assert.equal(status, 200, text);
  });

  test('a conversation grows through any of them, and every one knows all of it at once', async (context) => {
    const world = await openWorkers(context, { count: 3, play: (response) => response.end(END) });
    const { id } = JSON.parse((await ask(world.origin, '/v1/conversations', {})).text);
    for (let turn = 1; turn <= 12; turn += 1) {
      const body = { model: 'mock/m', input: `turn ${turn}`, conversation: id };
      const answer = await ask(world.origin, '/v1/responses', body);
      assert.equal(answer.status, 200, answer.text);
      const { text } = await ask(world.origin, `/v1/conversations/${id}/items?limit=100`);
      assert.equal(JSON.parse(text).data.length, turn * 2, text);
    }
    await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        ask(world.origin, `/v1/conversations/${id}/items`, {
          items: [
            { role: 'user', content: `asked ${n}` },
            { role: 'assistant', content: `said ${n}` },
          ],
        }),
      ),
    );
    const { text } = await ask(world.origin, `/v1/conversations/${id}/items?limit=24&order=desc`);
    const roles = JSON.parse(text).data.map(({ role }: { role: string }) => role);
    assert.deepEqual(
      roles,
      Array.from({ length: 24 }, (_, n) => (n % 2 === 0 ? 'assistant' : 'user')),
    );
  });
});
