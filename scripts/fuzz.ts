import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { parseArgs } from 'node:util';

/**
 * `npm run test:fuzz -- [--cases N] [--seed S] [--only TEXT] [--case I]`: the property tests of test/fuzz with more cases
 * than `npm test` gives them. `--cases` counts all of them together; `--seed` repeats a run, `--case` one case of it, and
 * `--only` takes the files whose name holds a text.
 */
const SHORT_FORM_CASES = 26_000;

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '1000000' },
    seed: { type: 'string' },
    case: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const cases = wholeNumber('cases', values.cases);
const seed = values.seed === undefined ? Date.now() % 1_000_000 : wholeNumber('seed', values.seed);
const files = globSync('test/fuzz/**/*.test.ts').filter((file) => file.includes(values.only));
if (files.length === 0) fail(`No file of test/fuzz has '${values.only}' in its name.`);

console.log(`seed ${seed}, about ${cases} cases; repeat with: npm run test:fuzz -- --seed ${seed} --cases ${cases}`);
const child = spawn(process.execPath, ['--test', '--test-concurrency=2', ...files], {
  stdio: 'inherit',
  env: {
    ...process.env,
    FUZZ_SEED: String(seed),
    FUZZ_SCALE: String(cases / SHORT_FORM_CASES),
    ...(values.case === undefined ? {} : { FUZZ_CASE: String(wholeNumber('case', values.case)) }),
  },
});
child.once('exit', (code) => process.exit(code ?? 1));

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 0) fail(`--${name} must be a whole number, not '${text}'.`);
  return number;
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
