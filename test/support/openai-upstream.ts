import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { faults } from './openai-faults.ts';
import { ChunkStream, completionOf, errorOf, listingOf, readRequest } from './openai-format.ts';
import { KEEP_ALIVE_MS } from './plain-server.ts';
import type { SeenRequest } from './seen-request.ts';
import { piecesOf, type VendorAnswer, type VendorScript } from './vendor-script.ts';

export interface OpenAiOptions {
  /** What `GET /v1/models` lists: names, or whole entries. Default: `test-model`. */
  readonly models?: readonly (string | object)[];
  /** Asked first for every request, the listing included; false leaves the request to the usual ways. */
  readonly handle?: (request: SeenRequest, response: ServerResponse) => boolean | Promise<boolean>;
  /** How long an idle connection is kept, in milliseconds. Default: a minute. */
  readonly keepAliveMs?: number;
  /** A fixed port, to come back where an earlier upstream was. Default: a free one. */
  readonly port?: number;
}

export interface OpenAiUpstream {
  /** For example `http://127.0.0.1:41234`. */
  readonly origin: string;
  /** The same with `/v1`. */
  readonly baseUrl: string;
  /** All that arrived so far, the listings included. */
  readonly requests: readonly SeenRequest[];
  /** Those for chat completions. */
  readonly chats: readonly SeenRequest[];
  /** TCP connections accepted so far. */
  readonly connections: number;
  /** Answers to POST requests that are neither finished nor aborted yet. */
  readonly open: number;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const HELLO: VendorScript = () => ({ text: ['Hello', ' from', ' the', ' upstream.'] });

/**
 * An upstream that speaks the wire format of OpenAI's chat completions on a free loopback port. It answers as `script`
 * says; a model named like one of the `faults` gets that fault instead.
 */
export async function startOpenAiUpstream(
  script: VendorScript = HELLO,
  options: OpenAiOptions = {},
): Promise<OpenAiUpstream> {
  const requests: SeenRequest[] = [];
  const perConnection = new WeakMap<Socket, number>();
  let connections = 0;
  let open = 0;
  const server = createServer((incoming, response) => {
    const before = perConnection.get(incoming.socket) ?? 0;
    perConnection.set(incoming.socket, before + 1);
    if (incoming.method === 'POST') {
      open += 1;
      response.once('close', () => {
        open -= 1;
      });
    }
    void serve(incoming, response, before).catch((error: unknown) => response.destroy(error as Error));
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse, before: number): Promise<void> {
    const request = await read(incoming, response, before);
    requests.push(request);
    if (await options.handle?.(request, response)) return;
    if (request.method === 'GET' && request.path === '/v1/models') {
      return sendJson(response, 200, listingOf(options.models ?? ['test-model']));
    }
    if (request.method !== 'POST' || request.path !== '/v1/chat/completions') {
      return sendJson(response, 404, errorOf(404, `Invalid URL (${request.method} ${request.path})`));
    }
    if (request.body === undefined) return sendJson(response, 400, errorOf(400, 'We could not parse the JSON body'));
    const fault = Object.hasOwn(faults, request.model) ? faults[request.model as keyof typeof faults] : undefined;
    if (fault !== undefined) await fault.answer(request, response);
    else await answer(await script(request), request, response);
  }

  server.keepAliveTimeout = options.keepAliveMs ?? KEEP_ALIVE_MS;
  server.on('connection', (socket) => {
    connections += 1;
    // Faults write to sockets that the other side may have closed.
    socket.on('error', () => {});
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return {
    origin,
    baseUrl: `${origin}/v1`,
    requests,
    get chats() {
      return requests.filter((request) => request.path === '/v1/chat/completions');
    },
    get connections() {
      return connections;
    },
    get open() {
      return open;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function read(incoming: IncomingMessage, response: ServerResponse, before: number): Promise<SeenRequest> {
  const closed = new Promise<'finished' | 'aborted'>((resolve) => {
    response.once('close', () => resolve(response.writableFinished ? 'finished' : 'aborted'));
  });
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const rawBody = Buffer.concat(pieces);
  const body = incoming.headers['content-type']?.startsWith('application/json') ? parse(rawBody) : undefined;
  const { method = '', url: path = '', headers } = incoming;
  return { method, path, headers, body, rawBody, before, closed, ...readRequest(body) };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** Headers of a kind that real answers have; none of them is the business of our clients but the rate limit. */
const USUAL_HEADERS = {
  'x-request-id': 'req_upstream',
  'x-ratelimit-remaining-requests': '4999',
  'openai-organization': 'org-upstream',
  'set-cookie': '__cf_bm=upstream; path=/; HttpOnly',
  server: 'cloudflare',
} as const;

async function answer(answer: VendorAnswer, request: SeenRequest, response: ServerResponse): Promise<void> {
  if (answer.silent === true) return;
  const status = answer.status ?? 200;
  const headers = { ...USUAL_HEADERS, ...answer.headers };
  if (answer.raw !== undefined) {
    const contentType = request.stream && status < 300 ? 'text/event-stream; charset=utf-8' : 'application/json';
    response.writeHead(status, { 'content-type': contentType, ...headers }).end(answer.raw);
  } else if (status >= 300) {
    sendJson(response, status, errorOf(status, answer.errorMessage ?? 'scripted failure'), headers);
  } else if (request.stream) {
    response.writeHead(status, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      ...headers,
    });
    await play(answer, request, response);
  } else {
    await sendWhole(answer, request, response, headers);
  }
}

/** Sends the stream, asking for the next piece only when the socket takes more. */
async function play(answer: VendorAnswer, request: SeenRequest, response: ServerResponse): Promise<void> {
  const stream = new ChunkStream(answer, request);
  let waiting = '';
  const add = (...events: readonly object[]): void => {
    for (const event of events) waiting += `data: ${JSON.stringify(event)}\n\n`;
  };
  const flush = async (): Promise<void> => {
    const text = waiting;
    waiting = '';
    const bytes = Buffer.from(text);
    const size = answer.sliceBytes ?? bytes.length;
    for (let start = 0; start < bytes.length && !response.destroyed; start += size) {
      const hasRoom = response.write(bytes.subarray(start, start + size));
      if (!hasRoom) await Promise.race([once(response, 'drain'), request.closed]);
      // A turn of the loop between two slices keeps them apart on the wire.
      if (answer.sliceBytes !== undefined) await immediate();
    }
  };
  /** Whether the script wants something else than the next piece. */
  const interrupted = async (sent: number): Promise<boolean> => {
    if (![answer.stallAfter, answer.cutAfter, answer.endAfter, answer.errorAfter].includes(sent)) return false;
    if (sent === answer.errorAfter) add(errorOf(500, answer.errorMessage ?? 'scripted failure'));
    await flush();
    if (sent === answer.stallAfter) await request.closed;
    else if (sent === answer.cutAfter) await cut(response);
    else response.end();
    return true;
  };

  add(stream.start());
  let sent = 0;
  for (const piece of piecesOf(answer)) {
    if (await interrupted(sent)) return;
    if (response.destroyed) return;
    add(stream.piece(piece));
    sent += 1;
    if (sent % (answer.burst ?? 1) !== 0) continue;
    await flush();
    if (answer.delayMs !== undefined) await sleep(answer.delayMs);
    if (answer.afterPiece !== undefined) await Promise.race([answer.afterPiece(), request.closed]);
  }
  if (await interrupted(sent)) return;
  add(...stream.end());
  waiting += 'data: [DONE]\n\n';
  await flush();
  response.end();
}

/** Without streaming there are no pieces: any fault counts from half of the body on, and the delay comes once before it. */
async function sendWhole(
  answer: VendorAnswer,
  request: SeenRequest,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  if (answer.delayMs !== undefined) await sleep(answer.delayMs);
  if (answer.errorAfter !== undefined) {
    return sendJson(response, 500, errorOf(500, answer.errorMessage ?? 'scripted failure'), headers);
  }
  const body = Buffer.from(JSON.stringify(completionOf(answer, request.model)));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length, ...headers });
  if (answer.stallAfter === undefined && answer.cutAfter === undefined && answer.endAfter === undefined) {
    response.end(body);
    return;
  }
  response.write(body.subarray(0, body.length / 2));
  if (answer.stallAfter !== undefined) await request.closed;
  else await cut(response);
}

/** Breaks the connection once what was written has left, else the other side may never see it. */
async function cut(response: ServerResponse): Promise<void> {
  await sleep(20);
  response.destroy();
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
