import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { chat, type Entry, entryOf, metric, type ObservedWorld, openObserved } from './observe-world.ts';

const get = async (
  world: ObservedWorld,
  path: string,
  init?: RequestInit,
): Promise<{ status: number; json: Entry }> => {
  const response = await fetch(`${world.origin}${path}`, init);
  return { status: response.status, json: await response.json() };
};

describe('health and readiness', { timeout: 60_000 }, () => {
  test('are open, also where everything else asks for a key', async () => {
    const world = await openObserved({}, 'key: access-key-of-the-test');
    try {
      assert.deepEqual(await get(world, '/health'), { status: 200, json: { status: 'ok' } });
      const ready = await eventually('the storage is open', async () => {
        const seen = await get(world, '/ready');
        return seen.json.status !== 'starting' && seen;
      });
      assert.deepEqual(ready, { status: 200, json: { status: 'ready' } });
      const head = await fetch(`${world.origin}/ready`, { method: 'HEAD' });
      assert.deepEqual([head.status, head.headers.get('cache-control')], [200, 'no-store']);
      for (const [path, method, status] of [
        ['/metrics', 'GET', 401],
        ['/health', 'POST', 401],
        ['/health/', 'GET', 401],
        ['/%68ealth', 'GET', 200],
        ['/healthy', 'GET', 401],
        ['/health/../v1/models', 'GET', 401],
      ] as const) {
        const response = await fetch(`${world.origin}${path}`, { method });
        await response.text();
        assert.equal(response.status, status, `${method} ${path}`);
      }
      const foreign = await fetch(`${world.origin}/health`, { headers: { origin: 'https://evil.example' } });
      assert.equal((await foreign.text()).includes('forbidden') && foreign.status, 403);
    } finally {
      await world.close();
    }
  });

  test('a storage that does not answer is told, and chats go on', async () => {
    const world = await openObserved({}, '', (data) => mkdirSync(path.join(data, 'sluice.db'), { recursive: true }));
    try {
      const found = await eventually('it has started', async () => {
        const seen = await get(world, '/ready');
        return seen.json.status !== 'starting' && seen;
      });
      assert.deepEqual([found.status, found.json.status], [503, 'storage_failed']);
      assert.match(found.json.message, /\w+.*\.$/);
      assert.equal((await get(world, '/health')).status, 200);
      assert.equal((await chat(world)).status, 200);
      assert.equal((await chat(world)).status, 200);
      const log = await get(world, '/backend-api/v2/requests');
      assert.deepEqual([log.status, log.json.total], [200, 2], 'the log is in memory then');
    } finally {
      await world.close();
    }
  });

  test('a storage that is in order again is ready, though nobody sends anything that would be written', async () => {
    let files = '';
    const world = await openObserved({}, '', (data) => {
      mkdirSync(data, { recursive: true });
      files = path.join(data, 'files');
      writeFileSync(files, 'a file in the place of the folder');
    });
    const isReady = async (status: number): Promise<boolean> => (await get(world, '/ready')).status === status;
    try {
      await eventually('out of order', () => isReady(503));
      rmSync(files);
      await eventually('in order again', () => isReady(200));
    } finally {
      await world.close();
    }
  });

  test('a database that can be written again is ready, though nobody sends anything that would be', async () => {
    let file = '';
    const world = await openObserved({}, '', (data) => {
      file = path.join(data, 'sluice.db');
    });
    const isReady = async (status: number): Promise<boolean> => (await get(world, '/ready')).status === status;
    try {
      await eventually('in order', () => isReady(200));
      const other = new DatabaseSync(file);
      other.exec('begin immediate');
      const body = JSON.stringify({ updated: 1 });
      const headers = { 'content-type': 'application/json' };
      const refused = await fetch(`${world.origin}/backend-api/v2/chat/share-1`, { method: 'POST', headers, body });
      assert.equal(refused.status, 507, await refused.text());
      await eventually('out of order', () => isReady(503));
      other.close();
      await eventually('in order again', () => isReady(200));
    } finally {
      await world.close();
    }
  });

  test('while Sluice drains, whoever is still connected hears of it', async () => {
    const world = await openObserved();
    world.answers({ text: ['one', 'two'], stallAfter: 1 });
    const socket = connect(Number(new URL(world.origin).port), '127.0.0.1');
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    const until = async (words: RegExp): Promise<void> => {
      while (!words.test(received)) await once(socket, 'data');
    };
    const body = JSON.stringify({
      model: 'acme/test-model',
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const head = `host: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${head}\r\n\r\n${body}`);
    await until(/one/);
    const closed = once(socket, 'close');
    const drained = world.close();
    socket.write('GET /ready HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    // The answer comes behind that of the stream, which ends when the upstream gives up.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await world.acme.close();
    await until(/shutting down/);
    assert.match(received, /HTTP\/1\.1 503 [\s\S]*\{"status":"draining"/);
    socket.destroy();
    await closed;
    await drained.catch(() => {}); // that upstream is closed already
  });
});

describe('metrics', { timeout: 60_000 }, () => {
  let world: ObservedWorld;
  before(async () => {
    world = await openObserved();
  });
  after(() => world.close());

  test('count requests by route, dialect, provider, model and status, and tokens and costs', async () => {
    for (const body of [{ model: 'openai/gpt-4o' }, { model: 'openai/gpt-4o', stream: true }]) {
      await entryOf(world, (await chat(world, body)).id);
    }
    const labels = 'method="POST",route="/v1/chat/completions",dialect="openai",provider="openai",model="gpt-4o"';
    assert.equal(await metric(world, `sluice_requests_total{${labels},status="200"}`), 2);
    const who = 'provider="openai",model="gpt-4o"';
    assert.equal(await metric(world, `sluice_tokens_total{${who},type="input"}`), 2_000);
    assert.equal(await metric(world, `sluice_tokens_total{${who},type="output"}`), 200);
    assert.equal(await metric(world, `sluice_cost_usd_total{${who}}`), 0.007);
    const duration = `{dialect="openai",operation="chat",${who}`;
    assert.equal(await metric(world, `sluice_request_duration_seconds_count${duration}`), 2);
    assert.equal(await metric(world, `sluice_request_duration_seconds_bucket${duration},le="1800"}`), 2);
    assert.equal(await metric(world, `sluice_time_to_first_chunk_seconds_count{dialect="openai",${who}}`), 1);
  });

  test('count attempts, errors and fallbacks of upstreams', async () => {
    world.answers(({ model }) => (model === 'test-model' ? { status: 429 } : { text: ['Hi'] }));
    await entryOf(world, (await chat(world, { models: ['acme/other-model'] })).id);
    assert.equal(await metric(world, 'sluice_upstream_errors_total{provider="acme",code="rate_limited"}'), 1);
    assert.equal(await metric(world, 'sluice_upstream_attempts_total{provider="acme"}'), 2);
    assert.equal(await metric(world, 'sluice_fallbacks_total{provider="acme"}'), 1);
    world.answers({ text: ['one', 'two'], cutAfter: 1 });
    await entryOf(world, (await chat(world, { stream: true })).id);
    const labels = 'dialect="openai",provider="acme",code="upstream_cut"';
    assert.equal(await metric(world, `sluice_streams_broken_total{${labels}}`), 1);
  });

  test('names that clients make up do not become labels', async () => {
    world.answers(({ model }) => ({ status: model.startsWith('made-up') ? 404 : 200, text: ['Hi'] }));
    for (let n = 0; n < 5; n += 1) {
      await entryOf(world, (await chat(world, { model: `made-up-${n}`, provider: 'acme' })).id);
      await (await fetch(`${world.origin}/made-up-${n}/path`)).text();
    }
    const text = await (await fetch(`${world.origin}/metrics`)).text();
    assert.doesNotMatch(text, /made-up/);
    assert.match(text, /route="none",dialect="",provider="",model="",status="404"} 5/);
    world.answers({ text: ['Hi'] });
    for (let n = 0; n < 210; n += 1) await chat(world, { model: `any-${n}`, provider: 'acme' });
    const later = await (await fetch(`${world.origin}/metrics`)).text();
    assert.match(later, /provider="acme",model="any-1"/);
    assert.match(later, /provider="acme",model="other"/);
    assert.ok(new Set(later.match(/model="any-\d+"/g)).size <= 200);
  });

  test('tell what runs now, and of the process', async () => {
    world.answers({ text: ['one', 'two'], stallAfter: 1 });
    const leaving = new AbortController();
    const response = await fetch(`${world.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/test-model', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    assert.equal(await metric(world, 'sluice_streams_running '), 1);
    assert.equal(await metric(world, 'sluice_requests_running '), 1);
    leaving.abort();
    await entryOf(world, response.headers.get('x-request-id') ?? '');
    assert.equal(await metric(world, 'sluice_streams_running '), 0);
    await eventually(
      'the lag was measured',
      async () => Number(await metric(world, 'sluice_event_loop_lag_seconds{quantile="0.99"}')) >= 0,
    );
    assert.ok(Number(await metric(world, 'process_resident_memory_bytes ')) > 1e6);
    if (process.platform === 'linux') assert.ok(Number(await metric(world, 'process_open_fds ')) > 3);
  });

  test('are in the text format, line by line', async () => {
    let text = '';
    await eventually('all families are told, the lag too', async () => {
      const response = await fetch(`${world.origin}/metrics`);
      assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
      text = await response.text();
      return text.includes('sluice_event_loop_lag_seconds{');
    });
    const lines = text.trimEnd().split('\n');
    const label = '[a-zA-Z_]\\w*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
    const sample = new RegExp(`^[a-zA-Z_:][\\w:]*(?:\\{${label}(?:,${label})*\\})? -?\\d[\\d.e+-]*$`);
    const comment = /^# (?:HELP [a-z_]+ .+|TYPE [a-z_]+ (?:counter|gauge|histogram|summary))$/;
    for (const line of lines) assert.match(line, line.startsWith('#') ? comment : sample);
    const heads = lines.filter((line) => line.startsWith('# TYPE'));
    assert.equal(new Set(heads).size, heads.length, 'a family is there once');
    const guide = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');
    for (const name of heads.map((head) => head.split(' ')[2] ?? ''))
      assert.ok(
        /^(process|nodejs)_/.test(name) || guide.includes(`\`${name}\``),
        `docs/observability.md lacks ${name}`,
      );
    const named = (part: RegExp) => new Set(lines.filter((each) => part.test(each)).map((each) => each.split('{')[0]));
    const typed = (type: string) => heads.filter((head) => head.endsWith(` ${type}`)).map((head) => head.split(' ')[2]);
    assert.deepEqual([...named(/^[^#]+[{,]quantile="/)], typed('summary'), 'a label that is kept for summaries');
  });

  test('name the model of an answer whose client did not wait for its end', async () => {
    const labels = 'method="POST",route="/v1/chat/completions",dialect="openai",provider="acme",model="test-model"';
    const name = `sluice_requests_total{${labels},status="499"}`;
    const before = (await metric(world, name)) ?? 0;
    world.answers({ text: ['one', 'two'], stallAfter: 1 });
    const leaving = new AbortController();
    const response = await fetch(`${world.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/test-model', messages: [{ role: 'user', content: 'Hi' }], stream: true }),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    await entryOf(world, response.headers.get('x-request-id') ?? '');
    assert.equal(await metric(world, name), before + 1);
  });
});

describe('statistics', { timeout: 60_000 }, () => {
  test('tell of costs, times and failures by day, model, provider and user, also after a restart', async () => {
    const world = await openObserved();
    try {
      for (const user of ['ann', 'ben']) {
        await entryOf(world, (await chat(world, { model: 'openai/gpt-4o' }, { 'x-user': user })).id);
      }
      await entryOf(world, (await chat(world, { stream: true }, { 'x-user': 'ann' })).id);
      world.answers({ status: 429 });
      await entryOf(world, (await chat(world, {}, { 'x-user': 'ann' })).id);
      const stats = async (query = ''): Promise<Entry> => (await get(world, `/backend-api/v2/stats${query}`)).json;
      const check = async (): Promise<void> => {
        const { insights, days } = await stats('?days=7');
        assert.equal(days.length, 7);
        assert.deepEqual([insights.days.length, insights.days.at(-1).date], [7, days.at(-1).date]);
        assert.deepEqual([insights.days[0].requests, insights.days[0].cost], [0, null]);
        assert.deepEqual([insights.all.requests, insights.all.errors, insights.all.cost], [4, 1, 0.007]);
        assert.equal(insights.all.unpriced, 1);
        assert.deepEqual(insights.errors, { rate_limited: 1 });
        const [first, second] = insights.models;
        assert.deepEqual([first.name, first.provider, first.cost], ['gpt-4o', 'openai', 0.007]);
        assert.deepEqual([second.name, second.cost, second.first_chunk_ms !== null], ['test-model', null, true]);
        const { p50, p90, p99 } = first.duration_ms;
        assert.ok(p50 > 0 && p50 <= p90 && p90 <= p99);
        assert.deepEqual(
          insights.users.map(({ name, requests }: Entry) => [name, requests]),
          [
            ['ann', 3],
            ['ben', 1],
          ],
        );
        assert.equal((await stats('?user=ben')).insights.all.cost, 0.0035);
        assert.equal((await stats('?user=nobody')).insights.all.requests, 0);
      };
      await check();
      await world.restart();
      await check();
    } finally {
      await world.close();
    }
  });
});

describe('lists of models', { timeout: 60_000 }, () => {
  test('say what each model of a provider costs, where that is known', async () => {
    const world = await openObserved();
    try {
      const pricesOf = (list: readonly Entry[]) => list.map(({ id, price }) => [id, price]);
      const known = ['gpt-4o', { input: 2.5, output: 10 }];
      const { json: all } = await get(world, '/backend-api/v2/models');
      assert.deepEqual(pricesOf(all.openai), [known]);
      assert.deepEqual(pricesOf(all.acme), [
        ['test-model', undefined],
        ['other-model', undefined],
      ]);
      assert.deepEqual(pricesOf((await get(world, '/backend-api/v2/models/openai')).json), [known]);
      const { json: once } = await get(world, '/backend-api/v2/models?format=list');
      assert.deepEqual(
        new Set(pricesOf(once).map(([, price]) => price)),
        new Set([undefined]),
        'whose would these be?',
      );
    } finally {
      await world.close();
    }
  });
});
