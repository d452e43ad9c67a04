/** Measures Sluice against a bare pass-through. Usage and what the rows mean: README.md in this folder. */
import { existsSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { type Running, startBare, startMock, startSluice } from './gateway.ts';
import { WrongAnswer } from './load.ts';
import { summarise, table } from './report.ts';
import {
  type Context,
  type Figures,
  FULL,
  type Lane,
  type LaneName,
  modelsFor,
  QUICK,
  SCENARIOS,
} from './scenarios.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    bare: { type: 'boolean', default: false },
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

const size = options.quick ? QUICK : FULL;
const rounds = options.quick ? 1 : Math.min(20, Math.max(1, Number(options.rounds) || 3));
const scenarios = SCENARIOS.filter(({ name }) => options.only === undefined || options.only.split(',').includes(name));

const running: Running[] = [];
const results = new Map<string, Map<LaneName, Figures[]>>();
const wrong: string[] = [];

async function keep(starting: Promise<Running>): Promise<Running> {
  const process = await starting;
  running.push(process);
  return process;
}

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((process) => process.stop()));
}

/** Notes a wrong answer and goes on: the other scenarios are still worth knowing. */
async function noting(where: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof WrongAnswer)) throw error;
    wrong.push(`${where}: ${error.message}`);
  }
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

async function measure(context: Context, lanes: readonly Lane[]): Promise<void> {
  for (const scenario of scenarios) {
    for (const lane of lanes.filter(({ name }) => scenario.lanes.includes(name))) {
      progress(`warming up: ${scenario.name}, ${lane.name}`);
      await noting(`${scenario.name} (${lane.name}, warming up)`, async () => scenario.warmUp?.(lane, context));
    }
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const scenario of scenarios) {
      const found = results.get(scenario.name) ?? new Map<LaneName, Figures[]>();
      results.set(scenario.name, found);
      // Every second round the other way round, so that nobody always comes first.
      const order = round % 2 === 1 ? lanes : lanes.toReversed();
      for (const lane of order.filter(({ name }) => scenario.lanes.includes(name))) {
        progress(`round ${round} of ${rounds}: ${scenario.name}, ${lane.name}`);
        await noting(`${scenario.name} (${lane.name}, round ${round})`, async () => {
          const figures = await scenario.run(lane, context);
          found.set(lane.name, [...(found.get(lane.name) ?? []), figures]);
        });
      }
    }
  }
  progress('');
}

async function main(): Promise<void> {
  const mock = await keep(startMock(modelsFor(size)));
  const bare = await keep(startBare(mock.port));
  const lanes: Lane[] = [{ name: 'bare', dialect: 'v1', gateway: bare, another: () => startBare(mock.port) }];
  if (!options.bare) {
    const gateway = await keep(startSluice(mock.port));
    const another = (): Promise<Running> => startSluice(mock.port);
    lanes.push(
      { name: 'sluice', dialect: 'v1', gateway, another },
      { name: 'typed', dialect: 'typed', gateway, another },
    );
  }
  const [load = 0] = loadavg();
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
  else console.log(table(lines));
  if (options.json !== undefined) {
    const raw = [...results].map(([scenario, found]) => ({ scenario, lanes: Object.fromEntries(found) }));
    writeFileSync(
      options.json,
      `${JSON.stringify({ machine, rounds, quick: options.quick, lines, raw, wrong }, null, 2)}\n`,
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
for (const line of wrong) console.error(`WRONG ANSWER  ${line}`);
if (wrong.length > 0) process.exitCode = 1;
