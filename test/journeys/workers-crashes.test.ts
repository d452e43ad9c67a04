import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ask, openWorkers } from './workers-world.ts';

const isLinux = process.platform === 'linux';

describe('workers that crash', { timeout: 240_000, skip: !isLinux }, () => {
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
});
