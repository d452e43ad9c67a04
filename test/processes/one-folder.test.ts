import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { unusedPort } from '../support/plain-server.ts';
import { type Running, runSluice, startSluice } from '../support/run-sluice.ts';

const WARNING = /another Sluice uses this data folder, too/;

/** A Sluice whose storage is open: by then it has looked who else uses it. */
async function start(context: TestContext, folder: string, ...words: string[]): Promise<Running> {
  const running = startSluice(context, ['--bind', '127.0.0.1:0', ...words], { folder });
  const [, origin = ''] = await running.said(/Page +(http:\/\/[^/\s]+)\//);
  await eventually('it is ready', async () => (await fetch(`${origin}/ready`)).ok);
  return running;
}

test('a second Sluice on a data folder says so, and so does sluice doctor', { timeout: 120_000 }, async (context) => {
  const folder = temporaryFolder(context);
  writeFileSync(path.join(folder, 'sluice.yaml'), 'detectLocal: false\nembedded: { enabled: false }\n');
  const doctor = async (): Promise<string> =>
    (await runSluice(context, ['doctor', '--bind', `127.0.0.1:${await unusedPort()}`], { folder })).stdout;

  // Several workers are one Sluice.
  const first = await start(context, folder, '--workers', '2');
  assert.match(await doctor(), /! a running Sluice uses this data folder\n +→ for a second one choose another folder/);
  const second = await start(context, folder);
  await second.said(WARNING);

  for (const { process } of [first, second]) {
    process.kill('SIGKILL');
    await once(process, 'exit');
  }
  assert.doesNotMatch((await first.ended).stderr, WARNING);
  assert.doesNotMatch(await doctor(), /uses this data folder/);
  const third = await start(context, folder);
  third.process.kill('SIGTERM');
  assert.doesNotMatch((await third.ended).stderr, WARNING);
});
