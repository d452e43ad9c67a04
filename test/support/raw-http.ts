import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';

/** A whole answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
}

export interface Ask {
  readonly method?: string;
  /** Sent as it is: nothing is encoded or resolved. */
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  /** An object goes as JSON, with its content type. */
  readonly body?: string | Buffer | object;
}

const agent = new Agent({ keepAlive: true });

/** One HTTP request with any headers, Host and Origin included, which `fetch` would not send. */
export function ask(origin: string, { method, path, headers = {}, body }: Ask): Promise<Answer> {
  const isRaw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = isRaw ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const running = request(origin, {
      agent,
      path,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(isRaw ? {} : { 'content-type': 'application/json' }),
        ...(bytes === undefined ? {} : { 'content-length': Buffer.byteLength(bytes) }),
        ...headers,
      },
    });
    running.on('error', reject);
    running.on('response', (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
      });
    });
    running.end(bytes);
  });
}

/** A connection on which anything can be sent. */
export async function dial(origin: string): Promise<Socket> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  // Connections are broken on purpose here, from both sides.
  socket.on('error', () => {});
  return socket;
}

/** Sends bytes and returns all that comes back until the other side closes, or until nothing came for `quietMs`. */
export async function talk(
  origin: string,
  bytes: string | Buffer,
  { quietMs = 3_000, answers }: { readonly quietMs?: number; readonly answers?: number } = {},
): Promise<{ readonly text: string; readonly closed: boolean }> {
  const socket = await dial(origin);
  socket.write(bytes);
  return listen(socket, quietMs, answers);
}

/** For the first byte of an answer, in milliseconds: machines may be busy. */
const PATIENCE_MS = 30_000;

/**
 * What comes back on a connection until it closes, or until nothing came for `quietMs` after so many answers; then it is closed
 * here.
 */
export function listen(
  socket: Socket,
  quietMs: number,
  answers = 1,
): Promise<{ readonly text: string; readonly closed: boolean }> {
  return new Promise((resolve) => {
    let text = '';
    const settle = (closed: boolean): void => {
      clearTimeout(quiet);
      socket.destroy();
      resolve({ text, closed });
    };
    const isPatient = (): boolean => statusesIn(text).length < answers;
    const listening = (): NodeJS.Timeout =>
      setTimeout(() => settle(false), isPatient() ? Math.max(quietMs, PATIENCE_MS) : quietMs);
    let quiet = listening();
    socket.on('data', (piece: Buffer) => {
      text += piece.toString('latin1');
      clearTimeout(quiet);
      quiet = listening();
    });
    socket.once('close', () => settle(true));
    socket.once('end', () => settle(true));
  });
}

/** Writes until the other side has had enough, at most `limit` bytes; returns how many were taken. */
export async function pour(socket: Socket, piece: Buffer, limit: number): Promise<number> {
  const closed = new Promise<void>((resolve) => {
    socket.once('close', resolve);
  });
  let size = 0;
  while (size < limit && socket.writable) {
    size += piece.length;
    if (socket.write(piece)) continue;
    const drained = new Promise<void>((resolve) => {
      socket.once('drain', resolve);
    });
    await Promise.race([drained, closed]);
  }
  return size;
}

/** The status codes of all answers in what came over one connection. */
export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
