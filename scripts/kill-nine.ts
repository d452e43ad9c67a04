import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { httpSubject } from './kill-nine/http-subject.ts';
import { killNine, type Outcome, SLOW_START_MS } from './kill-nine/run.ts';
import { split } from './kill-nine/split.ts';
import { storeSubject } from './kill-nine/store-subject.ts';
import type { Running, Subject } from './kill-nine/subject.ts';

const HELP = `npm run test:kill -- [--cycles 200] [--subject all|stores|http]

Kills a process with SIGKILL at random moments under concurrent writes, starts it again, and counts what is missing or
broken of what it had acknowledged. Exit code 1: something is.

  --cycles N   how many times (default: 200)
  --subject    stores   the stores alone, in a process without a gateway: a third of a second a cycle
               http     the whole gateway as users start it, over HTTP: about three seconds a cycle
               all      both (default): every fourth cycle is one of http, and at least one is
`;

const OPTIONS = {
  cycles: { type: 'string', default: '200' },
  subject: { type: 'string', default: 'all' },
  help: { type: 'boolean', default: false },
} as const;

const parts = asked();
if (parts.stores > 0) await kill('stores', parts.stores, storeSubject);
if (parts.http > 0) await kill('http', parts.http, httpSubject);

/** What the command line asks for. Ends the process when that is help, or when it is wrong. */
function asked(): ReturnType<typeof split> {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    if (!values.help) return split(Number(values.cycles), values.subject);
    process.stdout.write(HELP);
    process.exit();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
    process.exit(2);
  }
}

async function kill<R extends Running>(name: string, cycles: number, open: (folder: string) => Subject<R>) {
  const folder = mkdtempSync(path.join(tmpdir(), `sluice-kill-nine-${name}-`));
  const started = performance.now();
  const outcome = await killNine(open(folder), cycles, (cycle, { acknowledged, lost, torn }) => {
    if (cycle % 20 === 0)
      console.log(`${name}, cycle ${cycle}: ${acknowledged} acknowledged, ${lost} lost, ${torn} torn`);
  });
  for (const finding of outcome.findings) console.log(finding);
  console.log(`${name}: ${summary(outcome, Math.round((performance.now() - started) / 1_000))}`);
  if (outcome.lost + outcome.torn + outcome.leftovers > 0) {
    console.log(`The data are in ${folder}`);
    process.exitCode = 1;
  } else {
    rmSync(folder, { recursive: true, force: true });
  }
}

function summary(outcome: Outcome, seconds: number): string {
  const { cycles, acknowledged, kinds, lost, torn, leftovers, strays, slowestStartMs, slowStarts } = outcome;
  const by = Object.entries(kinds)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ');
  return (
    `${cycles} cycles in ${seconds} s: ${acknowledged} writes acknowledged (${by}), ${lost} lost, ${torn} torn, ` +
    `${leftovers} leftovers, ${strays} stray files; slowest start ${slowestStartMs} ms, ` +
    `${slowStarts} longer than ${SLOW_START_MS} ms`
  );
}
