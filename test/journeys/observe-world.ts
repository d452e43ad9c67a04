import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type App, createApp } from '../../src/app.ts';
import { defaultObserve, type ObserveConfig } from '../../src/observe/config.ts';
import { type TestLogger, testLogger } from '../support/call.ts';
import { loadYaml } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { VendorAnswer, VendorRequest } from '../support/vendor-script.ts';

/** A gateway that is observed, before two scripted upstreams: `openai`, whose answers have prices, and `acme`. */
export interface ObservedWorld {
  readonly origin: string;
  readonly app: App;
  readonly log: TestLogger;
  readonly openai: OpenAiUpstream;
  readonly acme: OpenAiUpstream;
  /** What `acme` answers from now on. */
  answers(answer: VendorAnswer | ((request: VendorRequest) => VendorAnswer)): void;
  /** Ends the gateway and starts another one on the same data. */
  restart(observe?: Partial<ObserveConfig>): Promise<void>;
  close(): Promise<void>;
}

/** What every answer of `openai` uses: 0.0035 dollars with gpt-4o. */
export const USAGE = { prompt: 1_000, completion: 100 };

/** `prepare` gets the folder of the data before anything is started. */
export async function openObserved(
  observe: Partial<ObserveConfig> = {},
  yaml = '',
  prepare: (dataDir: string) => void = () => {},
): Promise<ObservedWorld> {
  let script: (request: VendorRequest) => VendorAnswer = () => ({ text: ['Hello', ' world'] });
  const acme = await startOpenAiUpstream((request) => script(request));
  const openai = await startOpenAiUpstream(() => ({ text: ['Hello'], usage: USAGE }));
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-observed-'));
  prepare(path.join(folder, 'data'));
  const settings = [
    'dataDir: data',
    'detectLocal: false',
    'embedded: { enabled: false }',
    ...(/^bind:/m.test(yaml) ? [] : ['bind: 127.0.0.1:0']),
    'providers:',
    `  acme: { kind: openai, baseUrl: '${acme.baseUrl}', models: [test-model, other-model] }`,
    `  openai: { kind: openai, baseUrl: '${openai.baseUrl}', apiKey: planted-upstream-key, models: [gpt-4o] }`,
    yaml,
  ].join('\n');
  const log = testLogger();
  const start = async (as: Partial<ObserveConfig>): Promise<{ app: App; origin: string }> => {
    const app = await createApp(await loadYaml(folder, settings), log, { observe: { ...defaultObserve, ...as } });
    const { host, port } = await app.listen();
    return { app, origin: `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}` };
  };
  let running = await start(observe);
  return {
    get origin() {
      return running.origin;
    },
    get app() {
      return running.app;
    },
    log,
    openai,
    acme,
    answers(answer) {
      script = typeof answer === 'function' ? answer : () => answer;
    },
    async restart(as = observe) {
      await running.app.drain();
      running = await start(as);
    },
    async close() {
      await running.app.drain();
      await Promise.all([acme.close(), openai.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Asks in the wire format of OpenAI, and reads the answer to its end. */
export async function chat(
  { origin }: Pick<ObservedWorld, 'origin'>,
  body: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly id: string; readonly text: string }> {
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'acme/test-model', messages: [{ role: 'user', content: 'Hi' }], ...body }),
  });
  return { status: response.status, id: response.headers.get('x-request-id') ?? '', text: await response.text() };
}

/** An entry of the log, as a client sees it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into it
export type Entry = any;

/** The request log; entries are there a moment after the end of the answer. */
export async function logged(
  { origin }: Pick<ObservedWorld, 'origin'>,
  query = '',
  headers: Readonly<Record<string, string>> = {},
): Promise<{
  readonly requests: readonly Entry[];
  readonly total: number;
  readonly next: string | null;
  readonly kept: number;
}> {
  const response = await fetch(`${origin}/backend-api/v2/requests${query}`, { headers });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Awaited<ReturnType<typeof logged>>;
}

/** The entry of one request, once it is there. */
export function entryOf(world: Pick<ObservedWorld, 'origin'>, id: string): Promise<Entry> {
  return eventually(`an entry for ${id}`, async () => {
    const response = await fetch(`${world.origin}/backend-api/v2/requests/${id}`);
    const entry = (await response.json()) as Entry;
    return response.status === 200 && entry;
  });
}

/** One value of `GET /metrics`, by the beginning of its line; undefined: there is no such line. */
export async function metric({ origin }: Pick<ObservedWorld, 'origin'>, line: string): Promise<number | undefined> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const found = text.split('\n').find((each) => each.startsWith(line));
  return found === undefined ? undefined : Number(found.slice(found.lastIndexOf(' ') + 1));
}
