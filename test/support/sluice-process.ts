import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { COLLECTING, collector } from './collector.ts';
import { temporaryFolder } from './config-folder.ts';
import { startSluice } from './run-sluice.ts';

export interface SluiceProcess {
  /** For example `http://127.0.0.1:41234`. */
  readonly origin: string;
  readonly pid: number;
  /** As `collector` has it. */
  collect(): Promise<number>;
}

/**
 * Sluice in a process of its own, for tests of memory and load, with an upstream as its provider `mock`. Ended after the
 * test.
 */
export async function startSluiceProcess(
  context: { after(done: () => void): void },
  upstream: { readonly baseUrl: string },
  kind = 'openai',
): Promise<SluiceProcess> {
  const folder = temporaryFolder(context);
  const settings = [
    `providers: { mock: { kind: ${kind}, baseUrl: '${upstream.baseUrl}', apiKey: sk-test, models: [m] } }`,
    'embedded: { enabled: false }',
    'detectLocal: false',
    'logLevel: error',
  ];
  writeFileSync(path.join(folder, 'sluice.yaml'), settings.join('\n'));
  const running = startSluice(context, ['--bind', '127.0.0.1:0'], { folder, environment: COLLECTING });
  const [, address = ''] = await running.said(/Page +http:\/\/(\S+)\//);
  assert.ok(running.process.pid !== undefined);
  return { origin: `http://${address}`, pid: running.process.pid, collect: collector(running) };
}
