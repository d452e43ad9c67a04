import assert from 'node:assert/strict';
import cluster from 'node:cluster';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { testLogger } from '../../test/support/call.ts';
import { loadYaml, temporaryFolder } from '../../test/support/config-folder.ts';
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
