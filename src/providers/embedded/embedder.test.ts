import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestLogger, testCall, testLogger } from '../../../test/support/call.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { makeTinyGguf, TINY_SENTENCE } from '../../../test/support/tiny-gguf.ts';
import { Embedder } from './embedder.ts';

const SETTINGS = { threads: 1, contextLimit: 64, waiting: 8, idleMs: 20 };

describe('an engine for vectors', { timeout: 120_000 }, () => {
  let folder: string;
  let tiny: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-embedder-'));
    tiny = join(folder, 'tiny.gguf');
    writeFileSync(tiny, makeTinyGguf({ says: TINY_SENTENCE, contextLength: 64 }));
    writeFileSync(join(folder, 'broken.gguf'), 'no model');
  });
  after(() => rmSync(folder, { recursive: true }));

  test('that could not load its model is gone, and does not end once more for being idle', async () => {
    const log = testLogger();
    const embedder = new Embedder(SETTINGS, log);
    await assert.rejects(embedder.embed(join(folder, 'broken.gguf'), ['a'], testCall()), /cannot be loaded/);
    await sleep(10 * SETTINGS.idleMs);
    assert.deepEqual(messages(log), ['embedded engine for vectors started', 'embedded model cannot be loaded']);
    embedder.close();
  });

  test('that has nothing to do ends once', async () => {
    const log = testLogger();
    const embedder = new Embedder(SETTINGS, log);
    await embedder.embed(tiny, ['model'], testCall());
    await eventually('it says so twice', () => messages(log).length >= 2);
    await sleep(10 * SETTINGS.idleMs);
    assert.deepEqual(messages(log), ['embedded engine for vectors started', 'embedded engine for vectors ended: idle']);
    embedder.close();
  });

  test('that is busy holds up nobody who leaves before his turn, and keeps no place for him', async (context) => {
    const log = testLogger();
    const embedder = new Embedder({ ...SETTINGS, waiting: 2, idleMs: 600_000 }, log);
    context.after(() => embedder.close());
    await embedder.embed(tiny, ['model'], testCall());
    const { pid } = (log.lines[0]?.fields ?? {}) as { pid: number };
    process.kill(pid, 'SIGSTOP');
    const first = embedder.embed(tiny, ['model'], testCall());
    const call = testCall();
    const left = embedder.embed(tiny, ['model'], call);
    await assert.rejects(embedder.embed(tiny, ['model'], testCall()), { code: 'overloaded' });
    call.cancel();
    await assert.rejects(left, { code: 'cancelled' });
    const next = embedder.embed(tiny, ['always'], testCall());
    process.kill(pid, 'SIGCONT');
    assert.equal((await first).vectors.length, 1);
    assert.equal((await next).vectors.length, 1);
  });

  test('that does not leave what nobody waits for makes place for another', async (context) => {
    const log = testLogger();
    const embedder = new Embedder({ ...SETTINGS, idleMs: 600_000 }, log);
    await embedder.embed(tiny, ['model'], testCall());
    const { pid } = (log.lines[0]?.fields ?? {}) as { pid: number };
    process.kill(pid, 'SIGSTOP');
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const call = testCall();
    const left = embedder.embed(tiny, ['model'], call);
    const next = embedder.embed(tiny, ['always'], testCall());
    await new Promise(setImmediate);
    call.cancel();
    context.mock.timers.tick(30_000);
    await assert.rejects(left, { code: 'cancelled' });
    context.mock.timers.reset();
    assert.equal((await next).vectors.length, 1);
    assert.ok(messages(log).includes('embedded engine for vectors ended: stuck'));
    embedder.close();
  });
});

function messages(log: TestLogger): string[] {
  return log.lines.map(({ message }) => message);
}
