import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { makeTinyGguf, TINY_ANSWER, TINY_SENTENCE } from '../support/tiny-gguf.ts';
import { usageLines } from '../support/usage.ts';
import {
  allPlacesAreFree,
  ask,
  begin,
  childrenOf,
  isAlive,
  openWorkers,
  QUESTION,
  type WorkersWorld,
} from './workers-world.ts';

const isLinux = process.platform === 'linux';

/** The same question over so many connections that every worker gets some of them. */
const everywhere = (world: WorkersWorld, target: string, body?: object, headers: Record<string, string> = {}) =>
  Promise.all(Array.from({ length: 6 }, () => ask(world.origin, target, body, { headers })));

describe('what one worker learns', { timeout: 480_000, skip: !isLinux }, () => {
  test('cookies that one takes in count for all at once', async (context) => {
    const world = await openWorkers(context, { count: 2, entry: ', auth: cookies' });
    const isOn = async () => {
      const found = await everywhere(world, '/backend-api/v2/providers');
      return found.map(({ text }) => JSON.parse(text).find((each: { name: string }) => each.name === 'mock').auth);
    };
    assert.equal(
      (await everywhere(world, '/v1/chat/completions', QUESTION)).every(({ status }) => status === 401),
      true,
    );
    const before = await isOn();
    const form = new FormData();
    const cookies = [{ name: 'session', value: 'of-the-test', domain: '127.0.0.1', path: '/' }];
    form.append('file', new File([JSON.stringify(cookies)], 'cookies.json'));
    const url = `${world.origin}/backend-api/v2/upload_cookies`;
    const uploaded = await fetch(url, { method: 'POST', body: form });
    assert.equal(uploaded.status, 200, await uploaded.text());
    const after = await isOn();
    assert.equal(new Set(before).size, 1);
    assert.equal(new Set(after).size, 1);
    assert.equal(
      (await everywhere(world, '/v1/chat/completions', QUESTION)).some(({ status }) => status === 401),
      false,
    );
  });

  test('the usage of an answer can be read at once from all', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    for (let round = 0; round < 5; round += 1) {
      const user = `round-${round}`;
      await ask(world.origin, '/v1/chat/completions', QUESTION, { headers: { 'x-user': user } });
      const { text } = await ask(world.origin, '/backend-api/v2/stats?days=2');
      assert.equal(JSON.parse(text).users[user], 5);
      const next = `${user}-again`;
      await ask(world.origin, '/v1/chat/completions', QUESTION, { headers: { 'x-user': next } });
      const lines = await usageLines(world.origin);
      assert.equal(lines.filter((line) => JSON.parse(line).user === next).length, 1);
    }
  });

  test('a change that the workers cannot take over is named with what it needs', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    world.configure('key: of-the-test\nobserve: { accessLog: all }\nlimits: { headerBytes: 20000 }\n');
    await world.running.said(/a change of observe needs a restart of Sluice as a whole/);
    await world.running.said(/a change of key, limits\.headerBytes needs a restart of the workers: send SIGHUP/);
    assert.equal((await ask(world.origin, '/v1/models')).status, 200);
    world.running.process.kill('SIGHUP');
    await world.running.said(/all workers are new/);
    await eventually('the key is asked for', async () => (await ask(world.origin, '/v1/models')).status === 401);
  });

  test('a change of the configuration reaches all, new limits included', async (context) => {
    const world = await openWorkers(context, { yaml: 'aliases: { old: mock/m }\n' });
    for (const { status } of await everywhere(world, '/v1/chat/completions', { ...QUESTION, model: 'old' })) {
      assert.equal(status, 200);
    }
    world.configure('aliases: { fresh: mock/m }\nlimits: { streams: 2 }\n');
    await world.running.said(/the configuration has changed: aliases, limits/);
    for (const { status } of await everywhere(world, '/v1/chat/completions', { ...QUESTION, model: 'old' })) {
      assert.notEqual(status, 200);
    }
    await allPlacesAreFree(world.origin);
    const held = await Promise.all(
      Array.from({ length: 9 }, () =>
        begin(world.origin, '/v1/chat/completions', { ...QUESTION, model: 'fresh', stream: true }),
      ),
    );
    assert.equal(held.filter(({ status }) => status === 200).length, 2);
    for (const { leave } of held) leave();
  });

  test('the key that was made up is the same for all, also for later ones', async (context) => {
    const world = await openWorkers(context, { count: 2, words: ['--bind', '0.0.0.0:0'] });
    const { stdout } = await Promise.race([
      world.running.ended,
      world.running.said(/Access key +(\S+)/).then(([stdout]) => ({ stdout })),
    ]);
    const key = /Access key +(\S+)/.exec(stdout)?.[1] ?? assert.fail(stdout);
    const origin = `http://127.0.0.1:${new URL(world.origin).port}`;
    const check = async () => {
      const authorization = `Bearer ${key}`;
      const found = await Promise.all(
        Array.from({ length: 6 }, () => ask(origin, '/v1/models', undefined, { headers: { authorization } })),
      );
      assert.deepEqual(new Set(found.map(({ status }) => status)), new Set([200]));
      assert.equal((await ask(origin, '/v1/models')).status, 401);
    };
    await check();
    world.running.process.kill('SIGHUP');
    await world.running.said(/all workers are new/);
    await check();
  });

  test('an upload can be watched through any of them', async (context) => {
    const world = await openWorkers(context);
    const boundary = 'of-the-test';
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\nfirst line\n`;
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    const upload = request(`${world.origin}/backend-api/v2/files/bucket-1`, { method: 'POST', headers, agent: false });
    const answered = new Promise<number | undefined>((resolve, reject) => {
      upload.once('response', (response) => resolve(response.resume().statusCode)).once('error', reject);
    });
    upload.write(head);
    const target = '/backend-api/v2/files/bucket-1/stream';
    let watching = await begin(world.origin, target);
    await eventually('it is watched', async () => {
      watching = await begin(world.origin, target);
      return watching.status === 200;
    });
    const watchers = await Promise.all([1, 2, 3, 4, 5].map(() => begin(world.origin, target)));
    for (const { status } of watchers) assert.equal(status, 200);
    for (const { text } of watchers) await eventually('it is being converted', () => /"convert"/.test(text()));
    upload.end(`second line\r\n--${boundary}--\r\n`);
    assert.equal(await answered, 200);
    for (const { whole } of watchers) assert.match(await whole, /"action":"done","size":22/);
  });

  test('the embedded model runs once', async (context) => {
    const yaml = 'embedded: { modelsDir: models, parallel: 2 }\n';
    const world = await openWorkers(context, { count: 2, yaml });
    mkdirSync(path.join(world.folder, 'models'));
    const gguf = makeTinyGguf({ says: TINY_SENTENCE, contextLength: 4_096 });
    writeFileSync(path.join(world.folder, 'models', 'tiny.gguf'), gguf);
    const workers = world.workers();
    const question = { model: 'embedded/tiny', messages: [{ role: 'user', content: 'Hi' }] };
    const answers = await everywhere(world, '/v1/chat/completions', question);
    for (const { status, text } of answers) {
      assert.equal(status, 200, text);
      assert.equal(JSON.parse(text).choices[0].message.content, TINY_ANSWER);
    }
    const engines = world.workers().filter((pid) => !workers.includes(pid));
    assert.equal(engines.length, 1, 'below the primary');
    for (const pid of workers) assert.deepEqual(childrenOf(pid), []);
    world.running.process.kill('SIGTERM');
    assert.equal((await world.running.ended).code, 0);
  });

  test('an answer of the embedded model ends with the primary that ran it', async (context) => {
    const limits = 'limits: { drainMs: 200000, idleMs: 200000, firstByteMs: 200000 }\n';
    const world = await openWorkers(context, { count: 2, yaml: `embedded: { modelsDir: models }\n${limits}` });
    mkdirSync(path.join(world.folder, 'models'));
    const gguf = makeTinyGguf({ says: TINY_SENTENCE, contextLength: 4_096 });
    writeFileSync(path.join(world.folder, 'models', 'tiny.gguf'), gguf);
    const workers = world.workers();
    const question = { model: 'embedded/tiny', messages: [{ role: 'user', content: 'Hi' }] };
    assert.equal((await ask(world.origin, '/v1/chat/completions', question)).status, 200);
    const engine = world.workers().find((pid) => !workers.includes(pid)) ?? assert.fail('it runs');
    context.after(() => {
      for (const pid of [engine, ...workers]) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    process.kill(engine, 'SIGSTOP');
    const asked = ask(world.origin, '/v1/chat/completions', question);
    await eventually('it is being answered', async () => {
      const { text } = await ask(world.origin, '/metrics');
      return text.includes('sluice_requests_running 1');
    });
    process.kill(world.primary, 'SIGKILL');
    const { status, text } = await asked;
    assert.deepEqual([status, JSON.parse(text).error.code], [503, 'shutting_down']);
    await eventually('no worker is left', () => workers.every((pid) => !isAlive(pid)));
  });

  test('the embedded model has the settings of the last restart', async (context) => {
    const embedded = (parallel: number, threads: number) =>
      `embedded: { modelsDir: models, parallel: ${parallel}, threads: ${threads} }\n`;
    const world = await openWorkers(context, { count: 2, yaml: embedded(1, 1) });
    mkdirSync(path.join(world.folder, 'models'));
    for (const id of ['tiny', 'tiny-embed']) {
      const gguf = makeTinyGguf({ says: TINY_SENTENCE, contextLength: 4_096 });
      writeFileSync(path.join(world.folder, 'models', `${id}.gguf`), gguf);
    }
    const chat = { model: 'embedded/tiny', messages: [{ role: 'user', content: 'Hi' }] };
    const askBoth = async (): Promise<void> => {
      assert.equal((await ask(world.origin, '/v1/chat/completions', chat)).status, 200);
      const vectors = { model: 'embedded/tiny-embed', input: 'Hello!' };
      assert.equal((await ask(world.origin, '/v1/embeddings', vectors)).status, 200);
    };
    await askBoth();
    world.configure(embedded(3, 2));
    world.running.process.kill('SIGHUP');
    await world.running.said(/all workers are new/);
    await askBoth();
    await askBoth();
    world.running.process.kill('SIGTERM');
    const { stderr, stdout } = await world.running.ended;
    const lines = (stdout + stderr).split('\n').filter((line) => / started"/.test(line) && line.includes('.gguf'));
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)).map(({ model, threads, parallel }) => [model, threads, parallel]),
      [
        ['tiny.gguf', 1, 1],
        ['tiny-embed.gguf', 1, undefined],
        ['tiny.gguf', 2, 3],
        ['tiny-embed.gguf', 2, undefined],
      ],
    );
  });
});
