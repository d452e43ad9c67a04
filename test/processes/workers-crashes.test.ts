import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startSluice } from '../support/run-sluice.ts';
import { ask, END, isAlive, openWorkers, stream } from './workers-world.ts';

const isLinux = process.platform === 'linux';

describe('workers that crash', { timeout: 480_000, skip: !isLinux }, () => {
  test('SIGHUP while one that crashed is being replaced: exactly as many as wanted, all with the new configuration', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    const [victim = 0, other = 0] = world.workers();
    process.kill(victim, 'SIGKILL');
    const before = await eventually('its replacement starts', () => {
      const found = world.workers().filter((pid) => pid !== victim);
      return found.length === 2 && found;
    });
    assert.ok(before.includes(other));
    world.configure('key: of-the-test\n');
    world.running.process.kill('SIGHUP');
    await world.running.said(/all workers are new/);
    await eventually('two new ones are left', () => {
      const found = world.workers();
      return found.length === 2 && !found.some((pid) => before.includes(pid));
    });
    for (let at = 0; at < 6; at += 1) assert.equal((await ask(world.origin, '/v1/models')).status, 401);
  });

  test('those that an exception ends are replaced at once, while they finish what they answer', async (context) => {
    const thrower = `process.on('SIGUSR2', () => setImmediate(() => { throw new Error('of the test'); }));`;
    const environment = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(thrower)}` };
    const yaml = 'limits: { drainMs: 200000 }\n';
    const world = await openWorkers(context, { count: 2, yaml, environment });
    const old = world.workers();
    const held = await Promise.all(Array.from({ length: 6 }, () => stream(world.origin)));
    for (const pid of old) process.kill(pid, 'SIGUSR2');
    await eventually(
      'two others start',
      () => world.workers().filter((pid) => !old.includes(pid)).length === 2 && old.some(isAlive),
    );
    await world.running.said(/(?:a worker serves[\s\S]*){4}/);
    assert.equal((await ask(world.origin, '/health')).status, 200);
    for (const response of [...world.open]) response.end(END);
    for (const { whole } of held) assert.match(await whole, /\[DONE\]/);
    await eventually('two are left', () => world.workers().length === 2 && !old.some(isAlive));
  });

  test('a start removes the sockets of those that were killed with their primary, and of nobody else', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    const folders = () => readdirSync(world.folder).filter((name) => name.startsWith('sluice-'));
    const [left = ''] = folders();
    assert.equal(folders().length, 1);
    const words = ['--bind', '127.0.0.1:0', '--workers', '2', '--log-level', 'debug'];
    const start = async () => {
      const started = startSluice(context, words, { folder: world.folder, environment: { TMPDIR: world.folder } });
      await started.said(/(?:a worker serves[\s\S]*){2}/);
    };
    await start();
    assert.equal(folders().length, 2, 'those of a running one stay');
    const living = folders().find((name) => name !== left);
    for (const pid of [world.primary, ...world.workers()]) process.kill(pid, 'SIGKILL');
    await world.running.ended;
    assert.notDeepEqual(readdirSync(path.join(world.folder, left)), []);
    await start();
    const now = await eventually('it is gone', () => !folders().includes(left) && folders());
    assert.ok(living !== undefined && now.length === 2 && now.includes(living), String(now));
    assert.equal(readdirSync(path.join(world.folder, living)).length, 2);
  });

  test('an answer in the background that a restart of the whole has cut is known to have failed', async (context) => {
    const world = await openWorkers(context, { count: 2 });
    const begun = await ask(world.origin, '/v1/responses', { model: 'mock/m', input: 'Hi', background: true });
    const { id } = JSON.parse(begun.text);
    await eventually('it is asked', () => world.open.length === 1);
    for (const pid of [world.primary, ...world.workers()]) process.kill(pid, 'SIGKILL');
    await world.running.ended;
    // The same ids of processes would make it look alive.
    const words = ['--bind', '127.0.0.1:0', '--workers', '2', '--log-level', 'debug'];
    const again = startSluice(context, words, { folder: world.folder, environment: { TMPDIR: world.folder } });
    const [, address = ''] = await again.said(/Page +http:\/\/([^/\s]+)\//);
    await again.said(/(?:a worker serves[\s\S]*){2}/);
    for (let at = 0; at < 4; at += 1) {
      const { text } = await ask(`http://${address}`, `/v1/responses/${id}`);
      assert.equal(JSON.parse(text).status, 'failed', text);
    }
    const next = { model: 'mock/m', input: 'And', previous_response_id: id, background: true };
    for (let at = 0; at < 4; at += 1) {
      const { status, text } = await ask(`http://${address}`, '/v1/responses', next);
      assert.equal(status, 200, text);
    }
  });
});
