import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

/** How many modules named `undici` a process has loaded that imports only `module`. */
function undiciBehind(module: string): string {
  const code = `
    await import(${JSON.stringify(module)});
    console.log(process.moduleLoadList.filter((name) => name.endsWith('/undici')).length);
    process.exit();
  `;
  const words = ['--input-type=module', '--eval', code];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 60_000, env: {} });
  return stdout.trim() || stderr;
}

for (const file of ['../cli/serve.ts', '../workers/primary.ts', '../workers/worker.ts']) {
  test(`what ${file} needs to start does not load Node's own undici`, { timeout: 60_000 }, () => {
    assert.equal(undiciBehind(new URL(file, import.meta.url).href), '0');
  });
}

// Else the tests above would pass once Node names it otherwise.
test("an import of Node's http as a module loads it", { timeout: 60_000 }, () => {
  assert.equal(undiciBehind('node:http'), '1');
});
