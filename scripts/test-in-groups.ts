import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * `test-in-groups.ts [--test-…] PATTERN…`: the test files that fit the patterns, by Node's runner, but ten in a process. Each
 * process reads most of the sources and compiles what it uses, which takes longer than most files' tests: a file a process
 * takes half as much again. Other options are Node's own, for instance `--test-name-pattern=…`.
 */
const GROUP_SIZE = 10;

/** These look at the memory or the children of their process, or load sources as nobody else does, and want one of their own. */
const ALONE = [
  'src/documents/converter.test.ts',
  'src/documents/hostile.test.ts',
  'src/http/edge/outline-without.test.ts',
  'src/outbound/guarded-fetch.test.ts',
  'test/journeys/streams-bounds.test.ts',
  'test/journeys/top.test.ts',
  'web/src/storage/library.test.ts',
];
/** So do those with timers of their own making: a timer that never fires stays behind, and others may wait for it. */
const MAKES_TIMERS = /\btimers\.enable\(/;

/** Of this run alone: another one may go on beside it. */
const FOLDER = resolve('node_modules/.cache/test-groups', String(process.pid));

const words = process.argv.slice(2);
const options = words.filter((word) => word.startsWith('-'));
const files = globSync(words.filter((word) => !word.startsWith('-'))).toSorted();
if (files.length === 0) fail('No test file fits these patterns.');
for (const name of ALONE) if (!existsSync(name)) fail(`${name}, which is to run alone, is not there.`);
const child = spawn(process.execPath, ['--test', ...options, ...writeGroups()], { stdio: 'inherit' });
child.once('exit', (code) => {
  rmSync(FOLDER, { recursive: true, force: true });
  process.exit(code ?? 1);
});

/** Writes a file for each group that imports the group's, and returns their paths. */
function writeGroups(): string[] {
  mkdirSync(FOLDER, { recursive: true });
  return groups().map((group, index) => {
    const file = join(FOLDER, `${String(index + 1).padStart(2, '0')}.test.mjs`);
    writeFileSync(file, group.map((name) => `import ${JSON.stringify(pathToFileURL(name).href)};\n`).join(''));
    return file;
  });
}

/** Neighbours, which use the same sources. Those of the page and those of the server never share a process. */
function groups(): string[][] {
  const found: string[][] = [];
  let last: string[] = [];
  for (const file of files) {
    const isAlone = ALONE.includes(file.split(sep).join('/')) || MAKES_TIMERS.test(readFileSync(file, 'utf8'));
    const fits = !isAlone && last.length < GROUP_SIZE && topFolder(last[0]) === topFolder(file);
    if (fits) {
      last.push(file);
      continue;
    }
    const group = [file];
    found.push(group);
    if (!isAlone) last = group;
  }
  return found;
}

function topFolder(file: string | undefined): string | undefined {
  return file?.split(sep)[0];
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
