import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Channel } from './channel.ts';
import { ProcessSums } from './process-metrics.ts';

const metrics = (seconds: number, bytes: number): string =>
  [
    '# HELP process_cpu_seconds_total CPU time, user and system.',
    '# TYPE process_cpu_seconds_total counter',
    `process_cpu_seconds_total ${seconds}`,
    '# HELP process_resident_memory_bytes Resident memory.',
    '# TYPE process_resident_memory_bytes gauge',
    `process_resident_memory_bytes ${bytes}`,
    '',
  ].join('\n');

test('counters of ended processes stay in the sums, once each; what a process has goes with it', () => {
  const sums = new ProcessSums();
  const workers = Array.from({ length: 3 }, () => new Channel(() => {}));
  const [first, second, third] = workers;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  for (const worker of workers) sums.join(worker);
  assert.equal(sums.render(metrics(1, 100)), metrics(1, 100), 'they have not said anything yet');
  for (const worker of workers) sums.note(worker, metrics(10, 1_000));
  assert.equal(sums.render(metrics(2, 100)), metrics(32, 3_100));
  sums.leave(first);
  assert.equal(sums.render(metrics(3, 100)), metrics(33, 2_100));
  sums.note(second, metrics(15, 500));
  // An answer that was on its way when its worker ended.
  sums.note(first, metrics(11, 1_000));
  sums.leave(second);
  assert.equal(sums.render(metrics(4, 100)), metrics(39, 1_100));
  sums.leave(third);
  assert.equal(sums.render(metrics(4, 100)), metrics(39, 100));
});
