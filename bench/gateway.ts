import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import flags from '../bin/node-flags.json' with { type: 'json' };
import { unusedPort } from '../test/support/plain-server.ts';
import { Connection } from './connection.ts';
import { fillUsage } from './usage-records.ts';

/** A process under test, or the mock. */
export interface Running {
  readonly port: number;
  readonly pid: number;
  /** From the start of the process to its first answer of 200. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** On a busy machine, too. */
const START_LIMIT_MS = 60_000;

function file(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

/** Starts the mock, which offers `models` and `more` others that nobody asks for. */
export function startMock(models: readonly string[], more = 0): Promise<Running> {
  return start([file('mock-upstream.ts'), models.join(','), String(more)], undefined, '/v1/models');
}

/** Starts the bare pass-through in front of the upstream, with the flags that Sluice gets, so that the ratio is about code only. */
export function startBare(upstreamPort: number): Promise<Running> {
  return start([...flags, file('passthrough.ts'), String(upstreamPort)], undefined, '/v1/models');
}

/** How a Sluice differs from one with an upstream of the OpenAI format and an empty data folder. */
export interface Setting {
  /** The format of the upstream. */
  readonly kind?: 'openai' | 'anthropic';
  /** That many records of usage are in its data folder, and it was killed (`SIGKILL`) before it is started. */
  readonly records?: number;
}

/** Starts Sluice as its users do, except for the embedded model and with room for all streams from one address. */
export async function startSluice(
  upstreamPort: number,
  { kind = 'openai', records = 0 }: Setting = {},
): Promise<Running> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'));
  const config = path.join(folder, 'sluice.yaml');
  const data = path.join(folder, 'data');
  writeFileSync(config, configuration(upstreamPort, kind));
  const serve = async (): Promise<Running> => {
    const port = await unusedPort();
    const options = ['--config', config, '--data-dir', data, '--bind', `127.0.0.1:${port}`];
    const nodeArguments = [...flags, file('../bin/sluice.js'), 'serve', ...options];
    return start(nodeArguments, port, '/backend-api/v2/version?cache=true');
  };
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    if (records > 0) {
      await fillUsage(data, records);
      const first = await serve();
      process.kill(first.pid, 'SIGKILL');
      await first.stop();
    }
    const running = await serve();
    return { ...running, stop: () => running.stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

function configuration(upstreamPort: number, kind: string): string {
  return `providers:
  mock:
    kind: ${kind}
    baseUrl: http://127.0.0.1:${upstreamPort}/v1
    apiKey: sk-bench
embedded:
  enabled: false
detectLocal: false
limits:
  streamsPerClient: 5000
`;
}

/** Runs `program` until `probe` answers 200. Without `port` the process prints the port it took. */
export async function start(
  words: readonly string[],
  port: number | undefined,
  probe: string,
  program: string = process.execPath,
): Promise<Running> {
  const began = performance.now();
  // Nothing of the caller's environment: a provider's key in it would switch that provider on.
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: tmpdir() };
  const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => said.length < 200 && said.push(text));
  }
  try {
    const used = port ?? (await printedPort(child));
    await firstAnswer(child, used, probe);
    if (child.pid === undefined) throw new Error('no process id');
    return { port: used, pid: child.pid, startMs: performance.now() - began, stop: () => stop(child) };
  } catch (error) {
    await stop(child);
    throw new Error(`${words.join(' ')} did not start: ${said.join('').slice(-4000)}`, { cause: error });
  }
}

async function printedPort(child: ChildProcess): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.stdout?.once('data', (text: string) => resolve(Number.parseInt(text, 10)));
  child.once('exit', (code) => reject(new Error(`it ended with code ${code}`)));
  child.once('error', reject);
  return promise;
}

async function firstAnswer(child: ChildProcess, port: number, probe: string): Promise<void> {
  const limit = performance.now() + START_LIMIT_MS;
  let last: unknown;
  while (performance.now() < limit) {
    if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
    try {
      const { status, body } = await getText(port, probe);
      if (status === 200) return;
      last = new Error(`status ${status}: ${body.slice(0, 200)}`);
    } catch (error) {
      last = error;
    }
    await sleep(5);
  }
  throw last;
}

/** A single GET on a connection of its own. */
export async function getText(port: number, target: string): Promise<{ status: number; body: string }> {
  const connection = await Connection.open(port);
  try {
    return await connection.send(Buffer.from(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`));
  } finally {
    connection.close();
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  child.kill('SIGTERM');
  const hard = setTimeout(() => child.kill('SIGKILL'), 3000);
  await promise;
  clearTimeout(hard);
}

/** CPU (user and system) that a process has used so far, all threads, in microseconds. */
export function cpuMicros(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    // First figure: time on a CPU in nanoseconds (kernel documentation, scheduler/sched-stats). /proc/…/stat would
    // give the same in ticks of 10 ms, too coarse for short runs.
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  }
  return nanoseconds / 1000;
}

/** Resident memory in MiB. */
export function residentMiB(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) / 1024;
}
