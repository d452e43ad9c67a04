/** Measures Sluice against a bare pass-through. Usage and what the rows mean: README.md in this folder. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { modelsFor } from './asked.ts';
import { findNginx, findPortkey } from './beside.ts';
import { type Running, startBare, startMock, startSluice } from './gateway.ts';
import {
  BESIDE,
  type Context,
  type Figures,
  FULL,
  type Lane,
  type LaneName,
  meanOf,
  QUICK,
  type Scenario,
} from './lanes.ts';
import { WrongAnswer } from './load.ts';
import { readmeBlock, withBlock } from './readme.ts';
import { summarise, table } from './report.ts';
import { SCENARIOS } from './scenarios.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    bare: { type: 'boolean', default: false },
    alone: { type: 'boolean', default: false },
    'write-readme': { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'string' },
  },
});

if (!existsSync('/proc/self/schedstat')) {
  console.error(
    'The benchmark reads the CPU time of processes from /proc/<pid>/task/*/schedstat, which only Linux has.',
  );
  process.exit(2);
}

const README = new URL('../README.md', import.meta.url);
if (options['write-readme'] && (options.quick || options.bare || options.only !== undefined)) {
  console.error('--write-readme needs a whole run: without --quick, --bare and --only.');
  process.exit(2);
}

/** Whether the other gateways are measured too. */
const isBeside = !(options.alone || options.quick || options.bare);
const size = options.quick ? QUICK : FULL;
const rounds = options.quick ? 1 : Math.min(20, Math.max(1, Number(options.rounds) || 3));
const scenarios = SCENARIOS.filter(({ name }) => options.only === undefined || options.only.split(',').includes(name));

const running: Running[] = [];
const results = new Map<string, Map<LaneName, Figures[]>>();
const wrong: string[] = [];
/** The same of other gateways, which is no fault of ours. */
const wrongBeside: string[] = [];
/** Why which other gateway is not measured. */
const missing: string[] = [];

async function keep(starting: Promise<Running>): Promise<Running> {
  const process = await starting;
  running.push(process);
  return process;
}

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((process) => process.stop()));
}

/** Notes a wrong answer and goes on: the other scenarios are still worth knowing. */
async function noting(where: string, lane: Lane, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof WrongAnswer)) throw error;
    const list = BESIDE.some((name) => name === lane.name) ? wrongBeside : wrong;
    list.push(`${where}: ${error.message}`);
  }
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

/** What the turns of a round found on each lane. */
async function oneRound(
  scenario: Scenario,
  lanes: readonly Lane[],
  round: number,
  context: Context,
): Promise<Map<LaneName, Figures[]>> {
  const found = new Map<LaneName, Figures[]>();
  for (let turn = 1; turn <= (scenario.turns ?? 1); turn += 1) {
    // Every second time the other way round, so that nobody always comes first.
    for (const lane of (round + turn) % 2 === 0 ? lanes : lanes.toReversed()) {
      progress(`round ${round} of ${rounds}: ${scenario.name}, ${lane.name}`);
      await noting(`${scenario.name} (${lane.name}, round ${round})`, lane, async () => {
        const figures = await scenario.run(lane, context);
        found.set(lane.name, [...(found.get(lane.name) ?? []), figures]);
      });
    }
  }
  return found;
}

/**
 * One scenario after the other, each with its warming up and then all of its rounds: V8 collects everything in a process that
 * had nothing to do for some 100 s, and throws away most of its optimised code with the garbage.
 */
async function measure(context: Context, all: readonly Lane[]): Promise<void> {
  for (const scenario of scenarios) {
    const lanes = all.filter(({ name }) => scenario.lanes.includes(name));
    for (const lane of lanes) {
      progress(`warming up: ${scenario.name}, ${lane.name}`);
      await noting(`${scenario.name} (${lane.name}, warming up)`, lane, async () => scenario.warmUp?.(lane, context));
    }
    const found = new Map<LaneName, Figures[]>();
    results.set(scenario.name, found);
    for (let round = 1; round <= rounds; round += 1) {
      for (const [lane, runs] of await oneRound(scenario, lanes, round, context)) {
        found.set(lane, [...(found.get(lane) ?? []), meanOf(runs)]);
      }
    }
  }
  progress('');
}

/** One process in two dialects, and those that are what it is not; each only when a scenario needs it. */
async function lanesOfSluice(mock: Running): Promise<Lane[]> {
  const lanes: Lane[] = [];
  const add = async (name: LaneName, begin: () => Promise<Running>): Promise<void> => {
    if (!scenarios.some((scenario) => scenario.lanes.includes(name))) return;
    lanes.push({ name, dialect: 'v1', gateway: await keep(begin()), another: begin });
  };
  await add('sluice', () => startSluice(mock.port));
  for (const lane of [...lanes]) lanes.push({ ...lane, name: 'typed', dialect: 'typed' });
  await add('vendor', () => startSluice(mock.port, { kind: 'anthropic' }));
  await add('plain', () => startSluice(mock.port));
  await add('models', async () => {
    const offersMore = await keep(startMock(modelsFor(size), size.manyModels));
    return startSluice(offersMore.port);
  });
  await add('records', () => startSluice(mock.port, { records: size.manyRecords }));
  return lanes;
}

/** The other gateways that are here. One that does not start is not measured, and the others are. */
async function lanesBeside(mock: Running): Promise<Lane[]> {
  const lanes: Lane[] = [];
  for (const [name, find] of [['nginx', findNginx] as const, ['portkey', findPortkey] as const]) {
    progress(`looking for ${name}`);
    const found = find();
    if ('missing' in found) {
      missing.push(found.missing);
      continue;
    }
    const another = (): Promise<Running> => found.start(mock.port);
    try {
      lanes.push({ name, dialect: 'v1', gateway: await keep(another()), headers: found.headers(mock.port), another });
    } catch (error) {
      missing.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return lanes;
}

async function main(): Promise<void> {
  const [load = 0] = loadavg();
  const mock = await keep(startMock(modelsFor(size)));
  const bare = await keep(startBare(mock.port));
  const lanes: Lane[] = [{ name: 'bare', dialect: 'v1', gateway: bare, another: () => startBare(mock.port) }];
  if (!options.bare) {
    lanes.push(...(await lanesOfSluice(mock)));
  }
  if (isBeside) lanes.push(...(await lanesBeside(mock)));
  const began = performance.now();
  await measure({ mock, size }, lanes);
  const machine = `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'CPU'}`;
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    `${machine}; ${rounds} ${rounds === 1 ? 'round' : 'rounds'} in ${seconds} s; load before: ${load.toFixed(1)}\n`,
  );
  if (load > cpus().length / 4)
    console.log('The machine was busy with something else before: take the figures with care.\n');
  const lines = summarise(results);
  if (options.bare) for (const [name, found] of results) console.log(name, found.get('bare'));
  else console.log(table(lines, isBeside ? BESIDE : []));
  for (const line of missing) console.log(`\nnot measured: ${line}`);
  if (options['write-readme'] && wrong.length === 0) {
    const date = new Date().toISOString().slice(0, 10);
    const block = readmeBlock(lines, { date, machine, rounds, others: isBeside ? BESIDE : [] });
    writeFileSync(README, withBlock(readFileSync(README, 'utf8'), block));
  }
  if (options.json !== undefined) {
    const raw = [...results].map(([scenario, found]) => ({ scenario, lanes: Object.fromEntries(found) }));
    writeFileSync(
      options.json,
      `${JSON.stringify({ machine, rounds, quick: options.quick, lines, raw, missing, wrong, wrongBeside }, null, 2)}\n`,
    );
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => stopAll().finally(() => process.exit(130)));
try {
  await main();
} finally {
  await stopAll();
}
for (const line of wrongBeside) console.error(`wrong answer beside  ${line}`);
for (const line of wrong) console.error(`WRONG ANSWER  ${line}`);
if (wrong.length > 0) process.exitCode = 1;
