import type { IncomingHttpHeaders } from 'node:http';
import { connect as connectPlain, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { Duplex } from 'node:stream';
import type { ProxyAddress } from '../config/proxy.ts';
import { SluiceError } from '../core/errors.ts';

/** Bytes of a proxy's answer: none has more to say. */
const MOST_BYTES = 16 * 1024;
/** By which a proxy says that it may not, or cannot, pass a request on. */
const PAGE_STATUSES: ReadonlySet<number> = new Set([403, 502, 503, 504]);

/** A connection to a proxy, before anything is asked of it. */
export function connectTo(
  { hostname: host, port, isSecure }: ProxyAddress,
  options: Partial<TcpNetConnectOpts>,
): Socket {
  if (!isSecure) return connectPlain({ ...options, host, port });
  const { connect } = process.getBuiltinModule('node:tls');
  return connect({ ...options, host, port, ...askedOf(host) });
}

/** What a TLS server is asked for: its name, where it has one, since an address is none (RFC 6066 §3), and HTTP/1.1. */
export function askedOf(host: string): { readonly servername: string; readonly ALPNProtocols: string[] } {
  return { servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['http/1.1'] };
}

/** The header by which a proxy knows whom it serves (RFC 9110 §11.7.2), with the end of its line; empty where nobody is named. */
export function authorizationFor({ credentials }: ProxyAddress): string {
  if (credentials === undefined) return '';
  return `proxy-authorization: Basic ${Buffer.from(credentials).toString('base64')}\r\n`;
}

/**
 * A way through a proxy to a port of another machine (RFC 9110 §9.3.6). What is written before it is open waits; where it does
 * not open, it is destroyed with an error that says so.
 */
export class Tunnel extends Duplex {
  readonly #socket: Socket;
  readonly #proxy: ProxyAddress;
  #said = Buffer.alloc(0);
  #isOpen = false;
  #write: (() => void) | undefined;

  constructor(proxy: ProxyAddress, hostname: string, port: number, options: Partial<TcpNetConnectOpts>) {
    super();
    this.#proxy = proxy;
    const target = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
    const socket = connectTo(proxy, options);
    this.#socket = socket;
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${authorizationFor(proxy)}\r\n`);
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', (cause) => this.destroy(this.#isOpen ? cause : proxyNotReached(proxy, cause)));
    socket.once('end', () => {
      // That it closes is no reason to end: a slow reader may not have all that came.
      if (this.#isOpen) this.push(null);
      else this.destroy(proxyNotReached(proxy));
    });
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const write = (): void => {
      this.#socket.write(bytes, done);
    };
    if (this.#isOpen) write();
    else this.#write = write;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #take(bytes: Buffer): void {
    if (this.#isOpen) {
      if (!this.push(bytes)) this.#socket.pause();
      return;
    }
    this.#said = Buffer.concat([this.#said, bytes]);
    const end = this.#said.indexOf('\r\n\r\n');
    if (end === -1) {
      if (this.#said.length > MOST_BYTES) this.destroy(proxyNotReached(this.#proxy));
      return;
    }
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(this.#said.toString('latin1', 0, 16))?.[1]);
    if (!(status >= 200 && status <= 299)) {
      this.destroy(Number.isNaN(status) ? proxyNotReached(this.#proxy) : refused(this.#proxy, status));
      return;
    }
    const rest = this.#said.subarray(end + 4);
    this.#said = Buffer.alloc(0);
    this.#isOpen = true;
    this.#write?.();
    this.#write = undefined;
    if (rest.length > 0) this.push(rest);
  }
}

/** A proxy to which there is no connection, or that is none. */
export function proxyNotReached({ variable }: ProxyAddress, cause?: unknown): SluiceError {
  return new SluiceError('upstream_unreachable', `The proxy that ${variable} names does not answer as one.`, { cause });
}

/** Whether it is a proxy that says so where the upstream was asked. An upstream explains itself in JSON; a page comes from in between. */
export function isOfProxy(status: number, headers: IncomingHttpHeaders): boolean {
  // No other server says so (RFC 9110 §15.5.8).
  if (status === 407) return true;
  return PAGE_STATUSES.has(status) && /^text\/html\b/i.test(headers['content-type'] ?? '');
}

/** What a proxy means by its status. */
export function refused({ variable }: ProxyAddress, status: number): SluiceError {
  const why =
    status === 407
      ? `wants a name and a password: write them into ${variable}, as in http://name:password@proxy.example.org:3128`
      : `does not connect to the provider (${status}); NO_PROXY says whom to reach without it`;
  return new SluiceError('upstream_unreachable', `The proxy that ${variable} names ${why}.`);
}
