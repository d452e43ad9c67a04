import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createApp } from '../../src/app.ts';
import { testLogger } from '../support/call.ts';
import { loadYaml } from '../support/config-folder.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { VendorScript } from '../support/vendor-script.ts';

/** Where the page is, and who is asked behind it. */
export interface Place {
  readonly origin: string;
  readonly upstream: OpenAiUpstream;
}

export interface Gateway extends Place {
  close(): Promise<void>;
}

/** The gateway as a user has it, on a free port, with a scripted upstream that offers `models` as its one provider. */
export async function openGateway(
  script: VendorScript,
  models: readonly string[],
  label = 'Scripted',
  /** Further lines of sluice.yaml. */
  settings = '',
): Promise<Gateway> {
  const upstream = await startOpenAiUpstream(script, { models });
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-browser-'));
  const yaml = `bind: 127.0.0.1:0
dataDir: data
detectLocal: false
${/^embedded:/m.test(settings) ? '' : 'embedded: { enabled: false }'}
providers:
  scripted: { kind: openai, label: ${label}, baseUrl: '${upstream.baseUrl}', apiKey: key-of-the-test }
${settings}`;
  const app = await createApp(await loadYaml(folder, yaml), testLogger());
  const { host, port } = await app.listen();
  return {
    origin: `http://${host}:${port}`,
    upstream,
    close: async () => {
      await app.drain();
      await upstream.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
