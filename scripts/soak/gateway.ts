import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { COLLECTING, collector } from '../../test/support/collector.ts';
import { startOpenAiUpstream } from '../../test/support/openai-upstream.ts';
import { plainServer } from '../../test/support/plain-server.ts';
import { startSluice } from '../../test/support/run-sluice.ts';
import type { SeenRequest } from '../../test/support/seen-request.ts';
import { HELLO, SLOW } from './actors.ts';
import { FAULTS } from './chats.ts';
import { inTime } from './in-time.ts';

const MEBIBYTE = 1024 * 1024;
/** For the gateway to start, on a busy machine. */
const START_MS = 60_000;
const RESULTS = readFileSync(new URL('../../test/fixtures/search/searxng.json', import.meta.url), 'utf8');

/** The gateway in a process of its own before a scripted upstream and a search engine. */
export interface World {
  readonly origin: string;
  readonly process: ReturnType<typeof startSluice>;
  readonly pid: number;
  /** Has all garbage collected; in MiB what is in use then. */
  collect(): Promise<number>;
  /** Answers of the upstream that are under way. */
  open(): number;
  /** Forgets what the upstream has seen: in an hour that is much. */
  forget(): void;
  close(): Promise<void>;
}

/** `spoilt`: of the upstream's good answers, so many are wrong, to see that it is found. */
export async function openWorld(folder: string, spoilt: number): Promise<World> {
  const closing: (() => void)[] = [];
  const context = { after: (done: () => void) => void closing.push(done) };
  const upstream = await startOpenAiUpstream(({ model }) =>
    model === SLOW
      ? { text: Array.from({ length: 400 }, (_, index) => ` ${index}`), delayMs: 50 }
      : { text: Math.random() < spoilt ? ['Something else.'] : HELLO },
  );
  const engine = await plainServer(context, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(RESULTS);
  });
  writeFileSync(path.join(folder, 'sluice.yaml'), configuration(upstream.baseUrl, engine.url));
  const running = startSluice(context, ['--bind', '127.0.0.1:0'], { folder, environment: COLLECTING });
  const [, address = ''] = await inTime(running.said(/Page +http:\/\/(\S+)\//), START_MS).catch((error) => {
    for (const done of closing) done();
    throw error;
  });
  const collect = collector(running);
  return {
    origin: `http://${address}`,
    process: running,
    pid: running.process.pid ?? 0,
    collect: async () => (await collect()) / MEBIBYTE,
    open: () => upstream.open,
    forget() {
      // The list is for tests that look into it; here it would only grow.
      (upstream.requests as SeenRequest[]).length = 0;
    },
    async close() {
      running.process.kill('SIGTERM');
      await Promise.race([running.ended, new Promise((resolve) => setTimeout(resolve, 10_000).unref())]);
      for (const done of closing) done();
      await upstream.close();
    },
  };
}

/** Deadlines that silent upstreams reach soon, and good ones on a busy machine do not. */
function configuration(upstream: string, engine: string): string {
  const models = ['test-model', SLOW, ...FAULTS.map(([name]) => name)];
  return `dataDir: data
detectLocal: false
logLevel: silent
providers:
  mock: { kind: openai, baseUrl: '${upstream}', apiKey: sk-soak-0123, models: [${models.join(', ')}] }
search: { engine: searxng, url: '${engine}', pages: 0 }
limits: { retryWaitMs: 1000, firstByteMs: 4000, idleMs: 4000, totalMs: 30000 }
`;
}

/** A process's memory in MiB, now and at its highest, and its open descriptors; undefined when it is no more. Linux only. */
export function look(
  pid: number,
): { readonly residentMiB: number; readonly highestMiB: number; readonly descriptors: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const [residentMiB = 0, highestMiB = 0] = ['VmRSS', 'VmHWM'].map(
      (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024,
    );
    return { residentMiB, highestMiB, descriptors: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined;
  }
}
