import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { KEEP_ALIVE_MS } from './plain-server.ts';
import {
  piecesOf,
  type VendorAnswer,
  type VendorPiece,
  type VendorRequest,
  type VendorScript,
} from './vendor-script.ts';

/** How one vendor writes a `VendorAnswer` down. */
export interface VendorFormat {
  readonly contentType: string;
  /** What a request says, in the shared words. */
  read(body: unknown, path: string): Pick<VendorRequest, 'model' | 'stream' | 'prompt' | 'images' | 'tools'>;
  /** Opens one streamed answer; it may keep state between pieces. */
  open(answer: VendorAnswer, request: VendorRequest): VendorStream;
  /** An answer in one JSON text, for requests without streaming. */
  whole(answer: VendorAnswer, request: VendorRequest): string;
  failure(status: number, message: string): string;
  /** The listing of `GET …/models`. */
  readonly models: unknown;
}

export interface VendorStream {
  start(): string | Buffer;
  piece(piece: VendorPiece): string | Buffer;
  end(): string | Buffer;
  /** An error in the middle of the stream. */
  fault(message: string): string | Buffer;
}

/** A request that arrived, and what became of its answer. */
export interface SeenRequest extends VendorRequest {
  /** Bytes of the body that the socket took so far. */
  sent: number;
  /** Settles when the answer is over: `finished` when all of it went out, `aborted` when the client closed first. */
  readonly closed: Promise<'finished' | 'aborted'>;
}

export interface VendorUpstream {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly requests: readonly SeenRequest[];
  /** TCP connections accepted so far. */
  readonly connections: number;
  close(): Promise<void>;
}

/** Listens on a free loopback port and answers as `script` says. `prefix` is the path below which the API lives. */
export async function startVendorServer(
  format: VendorFormat,
  script: VendorScript,
  prefix: string,
): Promise<VendorUpstream> {
  const requests: SeenRequest[] = [];
  let connections = 0;
  const server = createServer((incoming, response) => {
    void serve(format, script, requests, incoming, response).catch((error: unknown) =>
      response.destroy(error as Error),
    );
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}${prefix}`,
    requests,
    get connections() {
      return connections;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function serve(
  format: VendorFormat,
  script: VendorScript,
  requests: SeenRequest[],
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString();
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  const path = incoming.url ?? '';
  const request: SeenRequest = {
    method: incoming.method ?? '',
    path,
    headers: incoming.headers,
    body,
    ...format.read(body, path),
    sent: 0,
    closed: new Promise((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'finished' : 'aborted'));
    }),
  };
  requests.push(request);
  const answer = await script(request);
  if (answer.silent === true) return;
  const status = answer.status ?? 200;
  const send = (contentType: string, content: string): void => {
    response.writeHead(status, { 'content-type': contentType, ...answer.headers }).write(content);
    if (answer.lingers !== true) response.end();
  };
  if (status >= 300)
    send('application/json', answer.raw ?? format.failure(status, answer.errorMessage ?? 'scripted failure'));
  else if (answer.raw !== undefined) send(format.contentType, answer.raw);
  else if (incoming.method === 'GET') send('application/json', JSON.stringify(format.models));
  else if (!request.stream) send('application/json', format.whole(answer, request));
  else {
    response.writeHead(status, { 'content-type': format.contentType, ...answer.headers });
    await play(format.open(answer, request), answer, request, response);
  }
}

async function play(
  stream: VendorStream,
  answer: VendorAnswer,
  request: SeenRequest,
  response: ServerResponse,
): Promise<void> {
  const write = async (...parts: (string | Buffer)[]): Promise<void> => {
    const bytes = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
    if (response.destroyed || bytes.length === 0) return;
    const size = answer.sliceBytes ?? bytes.length;
    for (let start = 0; start < bytes.length && !response.destroyed; start += size) {
      const slice = bytes.subarray(start, start + size);
      request.sent += slice.length;
      if (!response.write(slice)) await Promise.race([once(response, 'drain'), request.closed]);
      // A turn of the loop between two slices keeps them apart on the wire.
      if (answer.sliceBytes !== undefined) await immediate();
    }
  };
  await write(stream.start());
  let sent = 0;
  let burst: (string | Buffer)[] = [];
  const flush = async (): Promise<void> => {
    await write(...burst);
    burst = [];
  };
  /** Whether the script wants something else than the next piece. */
  const interrupted = async (): Promise<boolean> => {
    if (sent === answer.errorAfter) {
      burst.push(stream.fault(answer.errorMessage ?? 'scripted failure'));
      await flush();
      if (sent === answer.stallAfter) await request.closed;
      else response.end();
      return true;
    }
    if (sent === answer.stallAfter) {
      await flush();
      await request.closed;
      return true;
    }
    if (sent === answer.cutAfter) {
      await flush();
      // What was written must leave before the reset, else the other side may never see it.
      await sleep(20);
      response.destroy();
      return true;
    }
    if (sent === answer.endAfter) {
      await flush();
      response.end();
      return true;
    }
    return false;
  };
  for (const piece of piecesOf(answer)) {
    if (await interrupted()) return;
    if (response.destroyed) return;
    burst.push(stream.piece(piece));
    sent += 1;
    if (burst.length < (answer.burst ?? 1)) continue;
    await flush();
    if (answer.delayMs !== undefined) await sleep(answer.delayMs);
    if (answer.afterPiece !== undefined) await Promise.race([answer.afterPiece(), request.closed]);
  }
  if (await interrupted()) return;
  burst.push(stream.end());
  await flush();
  await answer.lingers;
  if (answer.lingers !== true) response.end();
}

/** A member of parsed JSON, or undefined when there is no such thing. */
export function member(value: unknown, ...path: (string | number)[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<string | number, unknown>)[key];
  }
  return found;
}

/** The elements of a parsed JSON array; none when it is none. */
export function elements(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
