import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import path from 'node:path';
import { temporaryFolder } from '../support/config-folder.ts';
import { eventually } from '../support/eventually.ts';
import { plainServer } from '../support/plain-server.ts';
import { type Running, startSluice } from '../support/run-sluice.ts';

/** Sluice with several workers before one upstream, the provider `mock` with the model `m`, which the test drives. */
export interface WorkersWorld {
  readonly origin: string;
  readonly folder: string;
  readonly running: Running;
  /** The pid of the primary. */
  readonly primary: number;
  /** Streams that the upstream has begun and not ended, the oldest first. */
  readonly open: readonly ServerResponse[];
  /** Writes the configuration anew. */
  configure(more: string): void;
  /** The pids of the workers. */
  workers(): readonly number[];
}

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

/** One more piece of a stream of the upstream. */
export const piece = (content: string): string => chunk({ content });
/** Its end. */
export const END = `${chunk({}, 'stop')}data: [DONE]\n\n`;

export interface WorldOptions {
  readonly count?: number;
  /** Further settings. */
  readonly yaml?: string;
  /** Further members of the provider. */
  readonly entry?: string;
  readonly words?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** What the upstream does with a stream whose first piece has gone out; by default it waits for the test. */
  readonly play?: (response: ServerResponse) => void;
}

export async function openWorkers(
  context: { after(done: () => void): void },
  { count = 3, yaml = '', entry = '', words = [], environment = {}, play }: WorldOptions = {},
): Promise<WorkersWorld> {
  // What is registered first runs first: nobody may write into the folder any more when it is removed.
  let kill = (): void => {};
  context.after(() => kill());
  const folder = temporaryFolder(context);
  const open: ServerResponse[] = [];
  const upstream = await plainServer(context, (incoming, response) => {
    let body = '';
    incoming.on('data', (bytes: Buffer) => {
      body += bytes.toString();
    });
    incoming.on('end', () => {
      if (!body.includes('"stream":true')) {
        const message = { role: 'assistant', content: 'whole' };
        response.writeHead(200, { 'content-type': 'application/json' });
        const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
        response.end(JSON.stringify({ id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
        return;
      }
      open.push(response);
      response.once('close', () => open.splice(open.indexOf(response), 1));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(piece('first'));
      play?.(response);
    });
  });
  const configure = (more: string): void => {
    const provider = `{ kind: openai, baseUrl: '${upstream.url}/v1', models: [m]${entry} }`;
    const basics = `providers: { mock: ${provider} }\ndetectLocal: false\n`;
    writeFileSync(
      path.join(folder, 'sluice.yaml'),
      basics + (/^embedded:/m.test(more) ? more : `embedded: { enabled: false }\n${more}`),
    );
  };
  configure(yaml);
  const running = startSluice(
    context,
    ['--bind', '127.0.0.1:0', '--workers', String(count), '--log-level', 'debug', ...words],
    { folder, environment: { TMPDIR: folder, ...environment } },
  );
  const [, address = ''] = await running.said(/Page +http:\/\/([^/\s]+)\//);
  const primary = running.process.pid ?? assert.fail('it runs');
  // Where only the primary is killed, its workers drain.
  kill = () => {
    for (const pid of [...childrenOf(primary), primary]) tryTo(() => process.kill(pid, 'SIGKILL'));
  };
  const world = {
    origin: `http://${address}`,
    folder,
    running,
    primary,
    open,
    configure,
    workers: () => childrenOf(primary),
  };
  await running.said(new RegExp(`(?:a worker serves[^]*){${count}}`));
  return world;
}

export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/**
 * Whether it has its own answer to SIGHUP, which Node by itself has not. A process that was only forked off so far has its parent's
 * answers, and all signals are blocked there.
 */
export function heedsHangup(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const has = (set: string): boolean =>
      (BigInt(`0x${new RegExp(`^${set}:\\s+(\\S+)$`, 'm').exec(status)?.[1] ?? '0'}`) & 1n) === 1n;
    return has('SigCgt') && !has('SigBlk');
  } catch {
    return false;
  }
}

/** What the descriptors of a process lead to. */
export function openFilesOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${name}`)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

export interface Got {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface Going {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** What has arrived so far. */
  readonly text: () => string;
  /** Resolves with everything once it has ended; rejects when it was cut. */
  readonly whole: Promise<string>;
  leave(): void;
}

/** A request whose answer has begun, over a connection of its own unless an agent is given. */
export async function begin(
  origin: string,
  target: string,
  body?: object,
  { method = body === undefined ? 'GET' : 'POST', headers = {}, agent }: BeginOptions = {},
): Promise<Going> {
  let sent: ClientRequest | undefined;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const bytes = body === undefined ? undefined : JSON.stringify(body);
    sent = request(origin + target, {
      method,
      agent: agent ?? new Agent({ keepAlive: false }),
      headers: { ...(bytes === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    });
    sent.once('response', resolve).once('error', reject).end(bytes);
  });
  let text = '';
  response.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  const whole = new Promise<string>((resolve, reject) => {
    response.once('end', () => resolve(text)).once('error', reject);
  });
  whole.catch(() => {});
  const { statusCode: status = 0, headers: received } = response;
  return { status, headers: received, text: () => text, whole, leave: () => sent?.destroy() };
}

export interface BeginOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

export async function ask(origin: string, target: string, body?: object, options?: BeginOptions): Promise<Got> {
  const { status, headers, whole } = await begin(origin, target, body, options);
  return { status, headers, text: await whole };
}

export const QUESTION = { model: 'mock/m', messages: [{ role: 'user', content: 'Hi' }] };

/** Asks for a stream. */
export const stream = (origin: string, options?: BeginOptions): Promise<Going> =>
  begin(origin, '/v1/chat/completions', { ...QUESTION, stream: true }, options);

/** Waits until no place is held: whose answer has arrived may still hold one for a moment. */
export async function allPlacesAreFree(origin: string): Promise<void> {
  await eventually('no place is held', async () =>
    / 0$/.test(/^sluice_requests_running .*$/m.exec((await ask(origin, '/metrics')).text)?.[0] ?? ''),
  );
}

/** Whether a signal waits for a process that has not been told of it yet. */
export function hasSignalWaiting(pid: number): boolean {
  return /^(?:SigPnd|ShdPnd):\s+0*[1-9a-f]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function tryTo(action: () => void): void {
  try {
    action();
  } catch {
    // It has ended.
  }
}
