import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Random } from '../test/fuzz/random.ts';
import { ACTORS, type Actor } from './soak/actors.ts';
import { look, openWorld, type World } from './soak/gateway.ts';
import { Hung, inTime } from './soak/in-time.ts';
import { findings, type Run, type Sample, type Tally } from './soak/verdict.ts';

const HELP = `npm run soak -- [--minutes 60] [--clients 8] [--seed S] [--sabotage answers|crash|hang|descriptors]

Mixed load on all dialects for a long time, with an upstream that fails in every way it knows. Exit code 1: the gateway
crashed or hung, its memory or descriptors grew, or something failed that was not made to fail.

  --minutes N    how long (default: 60, at least 3). The first third is not judged, at least 1 and at most 5 min
  --clients N    how many ask at the same time, one request after the other (default: 8)
  --seed S       repeats the choice of requests (not their timing)
  --sabotage X   breaks something, to see that it is found: wrong answers of the upstream, a gateway that is killed or
                 stopped, or ever more connections that are never closed
`;

const OPTIONS = {
  minutes: { type: 'string', default: '60' },
  clients: { type: 'string', default: '8' },
  seed: { type: 'string' },
  sabotage: { type: 'string', default: 'none' },
  help: { type: 'boolean', default: false },
} as const;

/** Between two requests of a client, at most: the load should be mixed, not as much as possible. */
const PAUSE_MS = 60;
/** Between two looks at the gateway, for which all its garbage is collected: by itself V8 does that once in a minute or two. */
const SAMPLE_MS = 10_000;
/** Of which two are judged: not too few looks, and not while code is still being compiled. */
const LEAST_MINUTES = 3;
/** A third of the time, within these bounds. */
const WARM_UP = { leastSeconds: 60, mostSeconds: 300 };
/** What silent upstreams and left connections may take to be over. */
const SETTLE_MS = 45_000;
/** All that a client does at a time: no answer takes longer than the gateway's own 30 s, and most of them none. */
const ACT_MS = 90_000;
/** Collecting all garbage, which waits for its turn. */
const COLLECT_MS = 30_000;
/** So much has come to no end that nothing else can be learned. */
const MOST_HUNG = 20;
/** What all may take together beside the load: its first and last acts, silence afterwards, the end of the gateway. */
const BESIDE_MS = 10 * 60_000;
/** Different findings that are told word by word. */
const SHOWN = 20;

const asked = options();
const folder = mkdtempSync(path.join(tmpdir(), 'sluice-soak-'));
const world = await openWorld(folder, asked.sabotage === 'answers' ? 0.01 : 0).catch((error: unknown) => {
  rmSync(folder, { recursive: true, force: true });
  throw error;
});
const shown = new Set<string>();
const overdue = setTimeout(
  () => {
    console.log('FOUND  the soak itself came to no end\nIt does not hold.');
    world.process.process.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  },
  asked.minutes * 60_000 + BESIDE_MS,
);
try {
  const run = await soak(world);
  report(run);
} finally {
  await world.close();
  clearTimeout(overdue);
  rmSync(folder, { recursive: true, force: true });
}

/** What the command line asks for. Ends the process when that is help, or when it is wrong. */
function options() {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit();
    }
    if (!existsSync('/proc/self/fd')) throw new Error('This reads /proc, which only Linux has.');
    const minutes = Number(values.minutes);
    const clients = Number(values.clients);
    const seed = Number(values.seed ?? Date.now() % 1_000_000);
    if (!(minutes >= LEAST_MINUTES && minutes <= 24 * 60)) {
      throw new Error(`--minutes must be ${LEAST_MINUTES} to 1440, not '${values.minutes}'.`);
    }
    if (!Number.isSafeInteger(clients) || clients < 1) throw new Error(`--clients must be a whole number above 0.`);
    if (!Number.isSafeInteger(seed)) throw new Error(`--seed must be a whole number.`);
    if (!['none', 'answers', 'crash', 'hang', 'descriptors'].includes(values.sabotage)) {
      throw new Error(`--sabotage is answers, crash, hang or descriptors, not '${values.sabotage}'.`);
    }
    return { minutes, clients, seed, sabotage: values.sabotage };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
    process.exit(2);
  }
}

async function soak({ origin, pid, process: gateway, collect, open, forget }: World): Promise<Run> {
  const { minutes, clients, seed, sabotage } = asked;
  console.log(`seed ${seed}; ${minutes} min, ${clients} clients`);
  const tallies = new Map<string, Tally>(
    ACTORS.map(({ name }) => [name, { asked: 0, answered: 0, failed: 0, unexpected: 0, hung: 0 }]),
  );
  let crashed: string | undefined;
  void gateway.ended.then(({ code, signal, stderr }) => {
    crashed = `${signal ?? `code ${code}`} ${stderr.slice(-500)}`.trim();
  });
  // One of each first, so that what is opened once is open when it is counted.
  const random = new Random(seed);
  for (const actor of ACTORS) {
    if (hungIn(tallies) === 0) await act(actor, origin, random, tallies);
  }
  const before = look(pid)?.descriptors ?? 0;

  const began = performance.now();
  const elapsed = (): number => (performance.now() - began) / 1000;
  const seconds = minutes * 60;
  const isOver = (): boolean => elapsed() >= seconds || crashed !== undefined || hungIn(tallies) >= MOST_HUNG;
  const samples: Sample[] = [];
  const held: Socket[] = [];
  const watching = (async () => {
    while (!isOver()) {
      await sleep(Math.min(SAMPLE_MS * Math.max(1, minutes / 15), 1000 * (seconds - elapsed())));
      const usedMiB = await inTime(collect(), COLLECT_MS).catch(() => undefined);
      const seen = look(pid);
      if (usedMiB !== undefined && seen !== undefined) samples.push({ seconds: elapsed(), usedMiB, ...seen });
      forget();
      if (sabotage === 'crash' && elapsed() > seconds / 2) gateway.process.kill('SIGKILL');
      if (sabotage === 'hang' && elapsed() > seconds / 2) gateway.process.kill('SIGSTOP');
      // The gateway closes silent connections after a while, so that only ever more of them look like a leak.
      for (let left = sabotage === 'descriptors' ? elapsed() / 3 : 0; left > 0; left -= 1)
        held.push(connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {}));
    }
  })();
  const loading = Array.from({ length: clients }, async (_, client) => {
    const own = new Random(seed + client + 1);
    while (!isOver()) {
      await act(pick(own), origin, own, tallies);
      await sleep(own.below(PAUSE_MS));
    }
  });
  await Promise.all([watching, ...loading]);
  const isCrashed = crashed !== undefined;
  const after = isCrashed ? before : await settled(pid, before, open);
  for (const socket of held) socket.destroy();
  return {
    samples,
    warmUpSeconds: Math.min(WARM_UP.mostSeconds, Math.max(WARM_UP.leastSeconds, seconds / 3)),
    tallies,
    crashed,
    descriptors: { before, after },
    leftOpen: isCrashed ? 0 : open(),
  };
}

async function act(actor: Actor, origin: string, random: Random, tallies: ReadonlyMap<string, Tally>): Promise<void> {
  const tally = tallies.get(actor.name);
  if (tally === undefined) return;
  tally.asked += 1;
  try {
    tally[await inTime(actor.act(origin, random), ACT_MS)] += 1;
  } catch (error) {
    const kind = error instanceof Hung ? 'hung' : 'unexpected';
    tally[kind] += 1;
    const text = `${actor.name}: ${(error instanceof Error ? error.message : String(error)).slice(0, 600)}`;
    if (shown.size >= SHOWN || shown.has(text)) return;
    shown.add(text);
    console.log(`${kind}  ${text}`);
  }
}

function hungIn(tallies: ReadonlyMap<string, Tally>): number {
  return tallies.values().reduce((sum, { hung }) => sum + hung, 0);
}

function pick(random: Random): Actor {
  let left = random.below(ACTORS.reduce((sum, { weight }) => sum + weight, 0));
  for (const actor of ACTORS) {
    left -= actor.weight;
    if (left < 0) return actor;
  }
  throw new Error('no actor');
}

/** Waits until nothing is under way any more, and returns the open descriptors. */
async function settled(pid: number, before: number, open: () => number): Promise<number> {
  const end = performance.now() + SETTLE_MS;
  for (;;) {
    const now = look(pid)?.descriptors ?? 0;
    if ((now <= before && open() === 0) || performance.now() > end) return now;
    await sleep(500);
  }
}

function report(run: Run): void {
  const rows = [...run.tallies].map(([name, { asked, answered, failed, unexpected, hung }]) => [
    name,
    ...[asked, answered, failed, unexpected, hung].map(String),
  ]);
  const sums = [1, 2, 3, 4, 5].map((column) => String(rows.reduce((sum, row) => sum + Number(row[column]), 0)));
  const head = ['', 'asked', 'answered', 'failed as injected', 'unexpected', 'hung'];
  const all = [head, ...rows, ['all', ...sums]];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  console.log();
  for (const row of all) {
    console.log(
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
    );
  }
  const measured = run.samples.filter(({ seconds }) => seconds >= run.warmUpSeconds);
  const [first, last] = [measured[0], measured.at(-1)];
  if (first !== undefined && last !== undefined) {
    console.log(
      `\nmemory in use ${first.usedMiB.toFixed(1)} MiB after the warm-up, ${last.usedMiB.toFixed(1)} at the end; resident ` +
        `${first.residentMiB.toFixed(0)} and ${last.residentMiB.toFixed(0)}, at most ${last.highestMiB.toFixed(0)}; descriptors ${first.descriptors} and ${last.descriptors}, ${run.descriptors.before} before and ` +
        `${run.descriptors.after} after all`,
    );
  }
  const found = findings(run);
  for (const line of found) console.log(`FOUND  ${line}`);
  console.log(found.length === 0 ? 'It holds.' : 'It does not hold.');
  if (found.length > 0) process.exitCode = 1;
}
