import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import type { FaultName } from '../support/openai-faults.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { ask as askOnce } from '../support/raw-http.ts';
import { type SluiceProcess, startSluiceProcess } from '../support/sluice-process.ts';
import { ask, askChat, askConversation, begin, type Received, readError } from '../support/wire-answers.ts';

// What bad answers cost in memory and files. The gateway is a process of its own, so that only its own counts.

const MEGABYTE = 1024 * 1024;

const cleanups: (() => void)[] = [];
const suite = { after: (done: () => void) => void cleanups.push(done) };
let upstream: OpenAiUpstream;
let sluice: SluiceProcess;

before(async () => {
  upstream = await startOpenAiUpstream(({ prompt }) => ({ text: [...`answer to ${prompt}`] }));
  sluice = await startSluiceProcess(suite, upstream);
});
after(async () => {
  for (const cleanup of cleanups.reverse()) cleanup();
  await upstream.close();
});

/** A figure of `/proc/<pid>/status` in bytes: `VmRSS` now, `VmHWM` at its highest since `forgetPeak`. */
function memory(name: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes] =
    new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${sluice.pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

function forgetPeak(): void {
  writeFileSync(`/proc/${sluice.pid}/clear_refs`, '5');
}

function openFiles(): number {
  return readdirSync(`/proc/${sluice.pid}/fd`).length;
}

/** Long enough that requests which something holds on to are seen among the noise: 3,000 of them would be 96 MB. */
const LONG = 'x'.repeat(32 * 1024);
const saying = (prompt: string) => [
  { role: 'system', content: LONG },
  { role: 'user', content: prompt },
];

const ways = {
  'dialect B, streamed': (model: string, prompt: string) =>
    askChat(sluice.origin, { provider: 'mock', model, stream: true, messages: saying(prompt) }),
  'dialect B, whole': (model: string, prompt: string) =>
    askChat(sluice.origin, { provider: 'mock', model, messages: saying(prompt) }),
  'dialect A': (model: string, prompt: string) =>
    askConversation(sluice.origin, { provider: 'mock', model, messages: saying(prompt) }),
} satisfies Record<string, (model: string, prompt: string) => Promise<Received>>;

describe('answers that want to fill the memory', () => {
  for (const name of [
    'fault-gzip-bomb',
    'fault-endless-line',
    'fault-endless-json',
    'fault-endless-error',
  ] satisfies FaultName[]) {
    test(name, { timeout: 60_000 }, async (context) => {
      for (const [title, way] of Object.entries(ways)) {
        forgetPeak();
        const before = memory('VmRSS');
        const received = await way(name, 'Hi');
        readError(received);
        assert.ok(received.status === 502 || received.status === 500, `${title}: status ${received.status}`);
        const growth = memory('VmHWM') - before;
        context.diagnostic(`${title}: at most ${Math.round(growth / MEGABYTE)} MB more`);
        assert.ok(growth < 300 * MEGABYTE, `${title}: ${Math.round(growth / MEGABYTE)} MB more`);
      }
      assert.equal((await ask(sluice.origin, '/v1/models')).status, 200, 'alive');
      await eventually('nothing stays open upstream', () => upstream.open === 0);
    });
  }
});

test('3,000 good and failing answers leave neither memory nor files behind', { timeout: 240_000 }, async (context) => {
  const bad: FaultName[] = [
    'fault-reset',
    'fault-close',
    'fault-no-end',
    'fault-error-event',
    'fault-error-first',
    'fault-html-200',
    'fault-not-gzip',
    'fault-gzip',
    'fault-crlf',
    'fault-400',
    'fault-rate-limited',
    'fault-big-header',
    'fault-open-after-done',
    'fault-closes-idle',
  ];
  const askers = Object.values(ways);

  async function one(index: number): Promise<void> {
    const way = askers[index % askers.length] ?? assert.fail();
    if (index % 10 === 0) return leave(index);
    if (index % 2 === 0) {
      const received = await way('m', `question ${index}`);
      assert.equal(received.status, 200, received.body);
    } else await way(bad[(index >> 1) % bad.length] ?? '', 'Hi');
  }

  /** A client that goes away in the middle. */
  async function leave(index: number): Promise<void> {
    const body = { provider: 'mock', model: 'm', messages: saying('Hi'), stream: true };
    const client = begin(
      sluice.origin,
      index % 20 === 0 ? '/v1/chat/completions' : '/backend-api/v2/conversation',
      body,
    );
    await once(await client.response, 'data');
    client.leave();
  }

  async function run(count: number): Promise<void> {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < count) {
        next += 1;
        await one(next);
      }
    };
    await Promise.all(Array.from({ length: 30 }, worker));
    await eventually('nothing stays open upstream', () => upstream.open === 0);
  }

  /** Lowest of several looks, since garbage comes and goes. */
  async function settled(read: () => number): Promise<number> {
    const looks: number[] = [];
    for (let look = 0; look < 5; look += 1) {
      looks.push(read());
      await sleep(200);
    }
    return Math.min(...looks);
  }

  /** Without what only waits for the collector, of which there is more or less by chance: that in use, and all of it. */
  async function memories(): Promise<readonly [used: number, resident: number]> {
    return [await sluice.collect(), await settled(() => memory('VmRSS'))];
  }

  await run(1_000);
  const [[usedBefore, memoryBefore], filesBefore] = [await memories(), await settled(openFiles)];
  await run(3_000);
  const [[usedAfter, memoryAfter], filesAfter] = [await memories(), await settled(openFiles)];
  const growth = Math.round((memoryAfter - memoryBefore) / MEGABYTE);
  context.diagnostic(
    `${growth} MB and ${filesAfter - filesBefore} files more than ${Math.round(memoryBefore / MEGABYTE)} MB`,
  );
  assert.ok(growth <= 60, `${growth} MB more after 3,000 answers`);
  // Exact enough to see what each answer leaves behind, be it two thousand bytes.
  const kept = usedAfter - usedBefore;
  context.diagnostic(`${(kept / MEGABYTE).toFixed(1)} MB more in use`);
  assert.ok(kept <= 6 * MEGABYTE, `${Math.round(kept / 3_000)} bytes of each answer are still in use`);
  assert.ok(filesAfter <= filesBefore + 30, `${filesAfter - filesBefore} files more`);
});

test('2,000 connections that have closed leave nothing', { timeout: 120_000 }, async (context) => {
  async function run(count: number): Promise<void> {
    let left = count;
    const worker = async (): Promise<void> => {
      for (; left > 0; left -= 1) {
        const { status } = await askOnce(sluice.origin, { path: '/health', headers: { connection: 'close' } });
        assert.equal(status, 200);
      }
    };
    await Promise.all(Array.from({ length: 20 }, worker));
  }

  await run(500);
  const before = await sluice.collect();
  await run(2_000);
  const kept = (await sluice.collect()) - before;
  context.diagnostic(`${Math.round(kept / 2_000)} bytes of each`);
  assert.ok(kept <= 2 * MEGABYTE, `${Math.round(kept / 2_000)} bytes of each connection are still in use`);
});
