import type { ProxyConfig } from '../config/proxy.ts';
import { shuttingDown } from '../core/errors.ts';
import { lastOf } from '../core/last-of.ts';
import { validateHeaderName, validateHeaderValue } from '../core/node-http.ts';
import { sizeOf } from '../core/pieces.ts';
import {
  Connection,
  type ConnectionOwner,
  type ConnectionSettings,
  type ConnectionUser,
  type Endpoint,
} from './connection.ts';
import type { Names } from './names.ts';
import { proxyTo } from './proxies.ts';
import type { UpstreamRequest } from './request.ts';
import { authorizationFor } from './tunnel.ts';

/** How often idle connections are looked at, in milliseconds. */
const SWEEP_MS = 1_000;
/** How long none is used again after one turned out to be closed, in milliseconds: until the next attempts are on their way. */
const DISTRUST_MS = 1_000;

/** The connections to one origin: as many as there are requests at a time, kept for a while for the next ones. */
export class Pool implements ConnectionOwner {
  readonly #endpoint: Endpoint;
  readonly #host: string;
  /** What a request says to a proxy that reads it, beside what it says to the upstream. */
  readonly #handedOn: { readonly origin: string; readonly lines: string } = { origin: '', lines: '' };
  readonly #settings: () => ConnectionSettings;
  readonly #all = new Set<Connection>();
  /** The one that was used last is the last. */
  #idle: Connection[] = [];
  /** From when idle ones are used again, on the clock of `performance.now()`. */
  #trustedFrom = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(origin: string, settings: () => ConnectionSettings, proxies: ProxyConfig, names: Names) {
    const url = new URL(origin);
    const { protocol, hostname, port, host } = url;
    const proxy = proxyTo(url, proxies);
    const isSecure = protocol === 'https:';
    this.#endpoint = {
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (isSecure ? 443 : 80) : Number(port),
      isSecure,
      proxy,
      session: undefined,
      lookup: names.lookup,
      attemptMs: undefined,
    };
    this.#host = host;
    // Whoever hands a request on has to be told where to (RFC 9112 §3.2.2).
    if (proxy !== undefined && !isSecure) this.#handedOn = { origin: url.origin, lines: authorizationFor(proxy) };
    this.#settings = settings;
  }

  /** Sends a request on a connection that is free, or a new one. Throws when it cannot be written as HTTP. */
  send(request: UpstreamRequest, user: ConnectionUser): Connection {
    const { body } = request;
    const pieces = typeof body === 'string' ? [Buffer.from(body)] : Buffer.isBuffer(body) ? [body] : body;
    const head = headOf(request, this.#host, this.#handedOn, pieces && sizeOf(pieces));
    const connection = this.#take();
    connection.send(head, pieces ?? [], user, typeof body === 'string');
    return connection;
  }

  free(connection: Connection): void {
    this.#idle.push(connection);
    this.#timer ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  gone(connection: Connection): void {
    this.#all.delete(connection);
  }

  /**
   * Whatever closed one of them (a restart, a limit of something in between) has closed them all, and may close those that answer until
   * the next attempt: that one gets a new one.
   */
  stale(): void {
    this.#trustedFrom = performance.now() + DISTRUST_MS;
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  /** Ends all connections; whoever waits for an answer gets an error. */
  close(): void {
    clearInterval(this.#timer);
    for (const connection of this.#all) connection.fail(shuttingDown());
  }

  #take(): Connection {
    const now = performance.now();
    for (let found = this.#idle.pop(); found !== undefined; found = this.#idle.pop()) {
      if (found.isUsable(now) && now >= this.#trustedFrom) {
        found.takenAt = now;
        return found;
      }
      found.destroy();
    }
    const connection = new Connection(this.#endpoint, this.#settings(), this);
    this.#all.add(connection);
    return connection;
  }

  #sweep(): void {
    const now = performance.now();
    const kept: Connection[] = [];
    for (const connection of this.#idle) {
      if (connection.isUsable(now)) kept.push(connection);
      else connection.destroy();
    }
    this.#idle = kept;
    if (kept.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

const isPath = lastOf((path) => /^\/[\x21-\x7e\x80-\xff]*$/.test(path));

/** The head of a request, in Latin-1 (RFC 9112 §3, §5). Throws where it could be read as something else. */
function headOf(
  { method, path, headers }: UpstreamRequest,
  host: string,
  { origin, lines }: { readonly origin: string; readonly lines: string },
  bodyBytes: number | undefined,
): string {
  if (!isPath(path)) throw new TypeError('The path of a request holds what cannot be sent.');
  const head = `${method} ${origin}${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${lines}${linesOf(headers)}`;
  return bodyBytes === undefined && method === 'GET'
    ? `${head}\r\n`
    : `${head}content-length: ${bodyBytes ?? 0}\r\n\r\n`;
}

type Headers = UpstreamRequest['headers'];

/** Headers that are frozen are those of a provider, the same for all its requests: they are checked and joined once. */
const known = new WeakMap<Headers, string>();

function linesOf(headers: Headers): string {
  const present = known.get(headers);
  if (present !== undefined) return present;
  let lines = '';
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    validateHeaderName(name);
    validateHeaderValue(name, value);
    lines += `${name}: ${value}\r\n`;
  }
  if (Object.isFrozen(headers)) known.set(headers, lines);
  return lines;
}
