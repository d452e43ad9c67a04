import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { plainServer } from './plain-server.ts';

/** A request that arrived at an upstream that draws. */
export interface ImageCall {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  readonly json: any;
  /** Parts of a form: texts as texts, files as files. */
  readonly form: FormData | undefined;
  /** Settles when the answer is over: `finished` when all of it went out, `aborted` when the client closed first. */
  readonly closed: Promise<'finished' | 'aborted'>;
}

/** What is answered: JSON, bytes of a type, nothing ever (`silent`), or what a function writes. */
export type ImageReply =
  | { readonly status?: number; readonly json: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly status?: number; readonly bytes: Buffer; readonly type: string }
  | { readonly silent: true }
  | { readonly write: (response: ServerResponse) => void | Promise<void> };

export type ImageScript = (call: ImageCall) => ImageReply | undefined | Promise<ImageReply | undefined>;

export interface ImageUpstream {
  readonly origin: string;
  readonly calls: readonly ImageCall[];
  /** Those of one path. */
  at(path: string): readonly ImageCall[];
}

/** An upstream on a free loopback port that answers as `script` says; what it leaves open is a 404 in JSON. */
export async function startImageUpstream(
  context: { after(done: () => void): void },
  script: (origin: string) => ImageScript,
): Promise<ImageUpstream> {
  const calls: ImageCall[] = [];
  let answer: ImageScript = () => undefined;
  const { url: origin } = await plainServer(context, (request, response) => {
    void serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  answer = script(origin);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await read(request, response);
    calls.push(call);
    const reply = await answer(call);
    if (reply === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Not Found"}');
    } else if ('write' in reply) await reply.write(response);
    else if ('json' in reply) {
      response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
      response.end(JSON.stringify(reply.json));
    } else if ('bytes' in reply) {
      response.writeHead(reply.status ?? 200, { 'content-type': reply.type }).end(reply.bytes);
    }
  }

  return { origin, calls, at: (path) => calls.filter((call) => call.path === path) };
}

async function read(request: IncomingMessage, response: ServerResponse): Promise<ImageCall> {
  const closed = new Promise<'finished' | 'aborted'>((resolve) => {
    response.once('close', () => resolve(response.writableFinished ? 'finished' : 'aborted'));
  });
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const raw = Buffer.concat(pieces);
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://upstream.example');
  const type = request.headers['content-type'] ?? '';
  return {
    method: request.method ?? '',
    path: pathname,
    query: searchParams,
    headers: request.headers,
    raw,
    json: type.startsWith('application/json') && raw.length > 0 ? JSON.parse(raw.toString()) : undefined,
    form: type.startsWith('multipart/form-data')
      ? await new Response(new Uint8Array(raw), { headers: { 'content-type': type } }).formData()
      : undefined,
    closed,
  };
}
