import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from './config-folder.ts';
import { startSluice } from './run-sluice.ts';

export interface SluiceProcess {
  /** For example `http://127.0.0.1:41234`. */
  readonly origin: string;
  readonly pid: number;
  /** Has all garbage collected, and the room for it given back, so that what stays in memory is in use: that many bytes. */
  collect(): Promise<number>;
}

/** Signals ask for a collection; each is told when it is over. */
const COLLECTOR = `
let count = 0;
process.on('SIGUSR2', () => {
  globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  count += 1;
  const { heapUsed, external } = process.memoryUsage();
  console.error('collected ' + count + '; ' + (heapUsed + external) + ' bytes');
});`;

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
  const collector = `--expose-gc --import=data:text/javascript,${encodeURIComponent(COLLECTOR)}`;
  const running = startSluice(context, ['--bind', '127.0.0.1:0'], { folder, environment: { NODE_OPTIONS: collector } });
  const [, address = ''] = await running.said(/Page +http:\/\/(\S+)\//);
  assert.ok(running.process.pid !== undefined);
  let collections = 0;
  return {
    origin: `http://${address}`,
    pid: running.process.pid,
    async collect() {
      collections += 1;
      running.process.kill('SIGUSR2');
      const [, bytes] = await running.said(new RegExp(`collected ${collections}; (\\d+) bytes`));
      return Number(bytes);
    },
  };
}
