import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type App, type AppOptions, createApp } from '../../src/app.ts';
import type { LoadOptions } from '../../src/config/load.ts';
import { type TestLogger, testLogger } from './call.ts';
import { loadYaml } from './config-folder.ts';

export interface Gateway {
  /** For example `http://127.0.0.1:41234`. */
  readonly origin: string;
  readonly app: App;
  /** Where sluice.yaml and the data are. */
  readonly folder: string;
  /** Everything that was logged. */
  readonly log: TestLogger;
  close(): Promise<void>;
}

/**
 * The gateway as a user has it, in this process, on a free loopback port and in an empty folder. `yaml` is what the user
 * wrote beyond that: providers, aliases, limits.
 */
export async function startGateway(
  yaml: string,
  options: LoadOptions = {},
  appOptions: AppOptions = {},
): Promise<Gateway> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-gateway-'));
  const basics = ['detectLocal: false'];
  if (!/^dataDir:/m.test(yaml)) basics.push('dataDir: data');
  if (!/^embedded:/m.test(yaml)) basics.push('embedded: { enabled: false }');
  if (!/^bind:/m.test(yaml)) basics.push('bind: 127.0.0.1:0');
  const log = testLogger();
  const app = await createApp(await loadYaml(folder, `${basics.join('\n')}\n${yaml}`, options), log, appOptions);
  const { host, port } = await app.listen();
  return {
    origin: `http://${host}:${port}`,
    app,
    folder,
    log,
    async close() {
      await app.drain();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
