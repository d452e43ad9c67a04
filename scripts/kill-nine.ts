import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { killNine } from './kill-nine/run.ts';
import { storeSubject } from './kill-nine/store-subject.ts';

/**
 * Kills a process with SIGKILL at random moments under concurrent writes to chats, memory, files and usage, and counts
 * what is missing or broken afterwards of what it had acknowledged: `kill-nine.ts [--cycles 200]`. Exit code 1: something.
 */

const { values } = parseArgs({ options: { cycles: { type: 'string', default: '200' } } });
const cycles = Number(values.cycles);
if (!Number.isInteger(cycles) || cycles < 1) throw new Error('--cycles takes a whole number from 1 on');

const folder = mkdtempSync(path.join(tmpdir(), 'sluice-kill-nine-'));
const started = performance.now();
const outcome = await killNine(storeSubject(folder), cycles, (cycle, { acknowledged, lost, torn }) => {
  if (cycle % 20 === 0) console.log(`cycle ${cycle}: ${acknowledged} acknowledged, ${lost} lost, ${torn} torn`);
});
for (const finding of outcome.findings) console.log(finding);
console.log(
  `${outcome.cycles} cycles in ${Math.round((performance.now() - started) / 1_000)} s: ` +
    `${outcome.acknowledged} writes acknowledged, ${outcome.lost} lost, ${outcome.torn} torn, ` +
    `${outcome.leftovers} leftovers; slowest start ${outcome.slowestStartMs} ms`,
);
if (outcome.lost + outcome.torn + outcome.leftovers > 0) {
  console.log(`The data are in ${folder}`);
  process.exitCode = 1;
} else {
  rmSync(folder, { recursive: true, force: true });
}
