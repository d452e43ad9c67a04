import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived. */
export interface Arrived {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** Parsed JSON; empty when it is none. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Settles when the answer is over. */
  readonly closed: Promise<'finished' | 'aborted'>;
}

/** What is answered: a value as JSON, with status 200 unless it says otherwise; undefined: nothing, or the script did it itself. */
export type ServerScript = (
  request: Arrived,
  response: ServerResponse,
) =>
  | { readonly status?: number; readonly body: unknown }
  | undefined
  | Promise<{ readonly status?: number; readonly body: unknown } | undefined>;

export interface ScriptedServer {
  /** Without a trailing slash. */
  readonly origin: string;
  readonly requests: readonly Arrived[];
  close(): Promise<void>;
}

/** A server on a free loopback port for vendors whose API is a few paths with JSON. */
export async function startScriptedServer(script: ServerScript): Promise<ScriptedServer> {
  const requests: Arrived[] = [];
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const bytes = Buffer.concat(pieces);
    const url = new URL(incoming.url ?? '/', 'http://here');
    const request: Arrived = {
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      bytes,
      json: parse(bytes),
      closed: new Promise((resolve) => {
        response.once('close', () => resolve(response.writableFinished ? 'finished' : 'aborted'));
      }),
    };
    requests.push(request);
    const answer = await script(request, response);
    if (answer === undefined) return;
    const { status = 200, body } = answer;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function parse(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(bytes.toString('utf8')) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
