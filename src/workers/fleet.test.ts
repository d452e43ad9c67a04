import assert from 'node:assert/strict';
import cluster from 'node:cluster';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { testLogger } from '../../test/support/call.ts';
import { loadYaml, temporaryFolder } from '../../test/support/config-folder.ts';
import { eventually } from '../../test/support/eventually.ts';
import { Crew } from './crew.ts';
import { Fleet, StartFailure } from './fleet.ts';

const ignored = { joined: () => {}, left: () => {}, failing: () => {}, crashed: () => {} };

test('where the system starts no process, that is told, and nobody waits for its end', {
  timeout: 30_000,
}, async (context) => {
  const folder = temporaryFolder(context);
  const left: string[] = [];
  const fleet = new Fleet({ ...ignored, left: ({ tag }) => left.push(tag) }, testLogger());
  // As good as too many open files, or too many processes.
  cluster.setupPrimary({ cwd: path.join(folder, 'missing') });
  const config = await loadYaml(folder, '');
  const member = fleet.start({ config, notes: [], folder, workers: 1, local: [] });
  await assert.rejects(member.served, (error) => {
    assert.ok(error instanceof StartFailure);
    assert.match(error.message, /^no process could be started \(E[A-Z]+\)$/);
    return true;
  });
  await fleet.stop();
  assert.deepEqual([left, fleet.all], [[member.tag], []]);
});

test('one that does not begin to serve in time is ended', { timeout: 120_000 }, async (context) => {
  const folder = temporaryFolder(context);
  const exec = path.join(folder, 'hangs.js');
  writeFileSync(exec, "process.on('SIGTERM', () => {}); setInterval(() => {}, 1_000);");
  const fleet = new Fleet(ignored, testLogger(), { startMs: 50 });
  cluster.setupPrimary({ exec, cwd: folder });
  context.after(() => fleet.kill());
  const config = await loadYaml(folder, '');
  const member = fleet.start({ config, notes: [], folder, workers: 1, local: [] });
  await assert.rejects(member.served, /^Error: a worker did not begin to serve within 0\.05 seconds$/);
  await member.ended;
  assert.deepEqual(fleet.all, []);
});

test('one that could not start is replaced, though its own end is a while off', {
  timeout: 120_000,
}, async (context) => {
  const folder = temporaryFolder(context);
  const exec = path.join(folder, 'fails-once.js');
  writeFileSync(
    exec,
    `let isFirst = true;
    try {
      require('node:fs').mkdirSync(${JSON.stringify(path.join(folder, 'tried'))});
    } catch {
      isFirst = false;
    }
    const failed = { topic: 'failed', body: { lines: ['not now'], exitCode: 1 } };
    const serving = { topic: 'serving', body: { host: '127.0.0.1', port: 1, text: '' } };
    process.on('message', () => {});
    process.send([{ type: 'tell', ...(isFirst ? failed : serving) }]);`,
  );
  const log = testLogger();
  const fleet = new Fleet(ignored, log);
  cluster.setupPrimary({ exec, cwd: folder });
  const config = await loadYaml(folder, '');
  const crew = new Crew({
    fleet,
    count: () => 1,
    start: () => fleet.start({ config, notes: [], folder, workers: 1, local: [] }).served,
    reload: async () => {},
    log,
  });
  context.after(() => {
    crew.stop();
    fleet.kill();
  });
  crew.fill();
  await eventually('another one serves', () => fleet.serving.length === 1, 60_000);
  assert.deepEqual(
    fleet.all.map(({ state }) => state),
    ['failed', 'serving'],
  );
});
