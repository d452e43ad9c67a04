import type { IncomingHttpHeaders } from 'node:http';
import { connect as connectPlain, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ProxyAddress } from '../config/proxy.ts';
import { atEndOfTurn } from '../core/end-of-turn.ts';
import { SluiceError } from '../core/errors.ts';
import { lastOf } from '../core/last-of.ts';
import { detach, type Pieces, sizeOf } from '../core/pieces.ts';
import { type AnswerHandler, AnswerReader } from './answer-reader.ts';
import { isHasty } from './error-code.ts';
import { QuickReads, soon } from './quick-reads.ts';
import { askedOf, connectTo, isOfProxy, proxyNotReached, refused, Tunnel } from './tunnel.ts';

/** All connections read into the same bytes: whatever came is looked at before anything else can be read. */
const READ = Buffer.allocUnsafeSlow(256 * 1024);
/** Up to this size a request goes to the socket as one text, which Node sends without a vector of buffers. */
const ONE_TEXT_BYTES = 16 * 1024;
/** An idle connection that the other side closes after some time is left so much earlier, in milliseconds: a request might cross its end. */
const LEFT_EARLIER_MS = 4_000;
/** When the system first asks an idle connection whether it is alive, in milliseconds. */
const PROBE_MS = 60_000;
/** Of a connection that was kept and has said nothing for so many milliseconds nobody knows whether its other side is still there. */
const DOUBT_MS = 5_000;
/** How long one of several addresses of a name is tried before the next one is, in milliseconds, where nothing is known of the way. */
const ATTEMPT_MS = 500;

/** Where connections lead. */
export interface Endpoint {
  readonly hostname: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** What leads there; undefined: nothing has to. */
  readonly proxy: ProxyAddress | undefined;
  /** What a TLS server gave to a client, so that its next connection costs less. */
  session: Buffer | undefined;
  /** Finds the addresses of names. */
  readonly lookup: LookupFunction;
  /** How long one address may take, of several; undefined: nothing is known of the way. */
  attemptMs: number | undefined;
}

/** `connectMs`: until TCP, and TLS where it is spoken, stand. `headerBytes`: of the headers of an answer. */
export interface ConnectionSettings {
  readonly connectMs: number;
  readonly headerBytes: number;
  /** How long it may be idle, in milliseconds. */
  readonly idleMs: number;
}

/** Who has sent a request. After `onEnd` or `onError` nothing follows. */
export interface ConnectionUser extends AnswerHandler {
  onError(thrown: unknown): void;
}

/** Told what becomes of a connection. */
export interface ConnectionOwner {
  /** It may serve again. */
  free(connection: Connection): void;
  gone(connection: Connection): void;
  /** The upstream had closed one that was kept, before anybody here could know, or it seems to be gone. */
  stale(): void;
}

/** How long an upstream keeps an idle connection, as it says in a header (RFC 2068 §19.7.1.1). */
const secondsIn = lastOf((header) => {
  const found = /\btimeout=(\d{1,6})/i.exec(header)?.[1];
  return found === undefined ? undefined : Number(found);
});

/** A connection to an upstream, for one request at a time. */
export class Connection implements AnswerHandler {
  /** When it was taken to serve again, on the clock of `performance.now()`. */
  takenAt = 0;
  /** Until when it may serve again, on the clock of `performance.now()`. */
  #usableUntil = 0;
  /** The same by the time of day: the other clock stands still while the machine sleeps, and nobody else's does. */
  #usableUntilTime = 0;
  readonly #socket: Socket;
  readonly #reader: AnswerReader;
  readonly #owner: ConnectionOwner;
  /** Who may answer instead of the upstream: a proxy that reads what is said. */
  readonly #proxy: ProxyAddress | undefined;
  readonly #settings: ConnectionSettings;
  readonly #uncork = (): void => this.#socket.uncork();
  readonly #readOn = (): void => {
    if (!this.#isPaused) this.#socket.resume();
  };
  readonly #quickReads = new QuickReads();
  #user: ConnectionUser | undefined;
  #idleMs = 0;
  #isEnded = false;
  #isPaused = false;
  #hasServed = false;
  /** Something of the answer has come. */
  #isAnswered = false;

  constructor(endpoint: Endpoint, settings: ConnectionSettings, owner: ConnectionOwner) {
    this.#owner = owner;
    this.#settings = settings;
    this.#reader = new AnswerReader(this, settings.headerBytes);
    const onread: OnReadOpts = {
      buffer: READ,
      callback: (size) => {
        this.#read(READ.subarray(0, size));
        const isQuick = this.#quickReads.add(size);
        // More is waiting than one read takes. Node would go on reading many times over before anybody else has a turn, so an
        // upstream that is faster than what it sends is looked through would hold up everybody.
        if (size === READ.length) this.#readLater(setImmediate);
        else if (isQuick) this.#readLater(soon);
        return true;
      },
    };
    const { socket, isTunnelled } = open(endpoint, onread);
    this.#socket = socket;
    // Node reads into a given buffer only from sockets of the system.
    if (isTunnelled) socket.on('data', (bytes: Buffer) => this.#read(bytes));
    const { proxy } = endpoint;
    // A tunnel says itself what is wrong with its proxy.
    this.#proxy = isTunnelled ? undefined : proxy;
    let isThere = false;
    let isResolved = isIP(endpoint.hostname) !== 0;
    const timer = setTimeout(() => {
      let why = 'The host name of the provider was not resolved in time.';
      if (proxy !== undefined)
        why = `The proxy that ${proxy.variable} names made no connection to the provider in time.`;
      else if (isResolved) why = 'The provider did not accept a connection in time.';
      this.fail(new SluiceError('upstream_timeout', why));
    }, settings.connectMs);
    socket.once('lookup', () => {
      isResolved = true;
    });
    const attemptMs = endpoint.attemptMs ?? ATTEMPT_MS;
    let attemptedAt = 0;
    socket.on('connectionAttempt', () => {
      attemptedAt = performance.now();
    });
    socket.once('connect', () => {
      endpoint.attemptMs = attemptWithin((performance.now() - attemptedAt) * 3, settings);
    });
    socket.once(endpoint.isSecure || proxy?.isSecure === true ? 'secureConnect' : 'connect', () => {
      isThere = true;
      clearTimeout(timer);
    });
    socket.on('error', (error) => {
      // The next attempt, which may follow at once, has more patience.
      if (!isThere && isHasty(error)) endpoint.attemptMs = attemptWithin(attemptMs * 4, settings);
      this.fail(this.#proxy === undefined || isThere ? error : proxyNotReached(this.#proxy, error));
    });
    socket.on('end', () => this.#close());
    socket.on('close', () => {
      clearTimeout(timer);
      this.#close();
      owner.gone(this);
    });
  }

  /**
   * Sends a request. `head` is Latin-1 and ends with the empty line.
   *
   * @param isOwn nobody else has the body: its memory is given back once it is sent
   */
  send(head: string, body: Pieces, user: ConnectionUser, isOwn: boolean): void {
    this.#user = user;
    this.#isEnded = false;
    this.#isAnswered = false;
    this.#idleMs = this.#settings.idleMs;
    this.#reader.next();
    this.#socket.cork();
    if (sizeOf(body) <= ONE_TEXT_BYTES) {
      let text = head;
      for (const piece of body) text += piece.toString('latin1');
      this.#socket.write(text, 'latin1');
    } else {
      this.#socket.write(head, 'latin1');
      for (const piece of body) this.#socket.write(piece, isOwn ? () => detach([piece]) : undefined);
    }
    atEndOfTurn(this.#uncork);
  }

  /** Whether it may serve again. `now` is of `performance.now()`. */
  isUsable(now: number): boolean {
    return this.#usableUntil > now && this.#usableUntilTime > Date.now();
  }

  /** Whether the system has taken all that was given to it. */
  get isSent(): boolean {
    return this.#socket.writableLength === 0;
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** Closes it at once; its user hears nothing more. */
  destroy(): void {
    // Whoever gives up may ask again at once, and should not meet the next one of which the way has gone without a word.
    if (this.#isInDoubt && performance.now() - this.takenAt > DOUBT_MS) this.#owner.stale();
    this.#usableUntil = 0;
    this.#user = undefined;
    this.#socket.destroy();
  }

  /** The same, with an error for its user. */
  fail(thrown: unknown): void {
    const user = this.#user;
    if (this.#isInDoubt) this.#owner.stale();
    this.destroy();
    user?.onError(thrown);
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    if (this.#proxy !== undefined && isOfProxy(status, headers)) throw refused(this.#proxy, status);
    const seconds = secondsIn(String(headers['keep-alive'] ?? ''));
    if (seconds !== undefined) this.#idleMs = Math.min(this.#idleMs, seconds * 1_000 - LEFT_EARLIER_MS);
    this.#quickReads.begin(headers);
    this.#user?.onHead(status, headers);
  }

  onData(bytes: Buffer): void {
    this.#user?.onData(bytes);
  }

  onEnd(): void {
    this.#isEnded = true;
  }

  /** It was kept, and nothing has come since it was used again. */
  get #isInDoubt(): boolean {
    return this.#user !== undefined && this.#hasServed && !this.#isAnswered;
  }

  /** Reads nothing until `later` calls back. */
  #readLater(later: (call: () => void) => void): void {
    if (this.#isPaused || this.#user === undefined) return;
    this.#socket.pause();
    later(this.#readOn);
  }

  #read(bytes: Buffer): void {
    // Nobody has asked for it.
    if (this.#user === undefined) {
      this.destroy();
      return;
    }
    this.#isAnswered = true;
    try {
      this.#reader.push(bytes);
    } catch (error) {
      this.fail(error);
      return;
    }
    if (this.#isEnded) this.#finish();
  }

  /** Only now, and not in the middle of what was read: its user may send the next request at once. */
  #finish(): void {
    const user = this.#user;
    // Left by its user in the meantime.
    if (user === undefined) return;
    this.#user = undefined;
    if (this.#reader.isFree && this.isSent && this.#idleMs > 0) {
      this.#usableUntil = performance.now() + this.#idleMs;
      this.#usableUntilTime = Date.now() + this.#idleMs;
      this.#hasServed = true;
      // One that reads nothing would not learn that the other side has closed it.
      if (this.#isPaused) this.resume();
      this.#owner.free(this);
    } else this.destroy();
    user.onEnd();
  }

  #close(): void {
    this.#usableUntil = 0;
    if (this.#user === undefined) return;
    if (this.#reader.close()) this.#finish();
    else
      this.fail(new SluiceError('upstream_cut', 'The provider closed the connection before its answer was complete.'));
  }
}

/** As long as one of several addresses may be tried, so that there is time for others. */
function attemptWithin(milliseconds: number, { connectMs }: ConnectionSettings): number {
  return Math.ceil(Math.min(Math.max(milliseconds, ATTEMPT_MS), connectMs / 4));
}

interface Opened {
  readonly socket: Socket;
  readonly isTunnelled: boolean;
}

function open(endpoint: Endpoint, onread: OnReadOpts): Opened {
  const { hostname: host, port, isSecure, proxy, session, lookup, attemptMs = ATTEMPT_MS } = endpoint;
  const options = {
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_MS,
    lookup,
    autoSelectFamilyAttemptTimeout: attemptMs,
  };
  if (!isSecure) {
    const socket =
      proxy === undefined ? connectPlain({ ...options, onread, host, port }) : connectTo(proxy, { ...options, onread });
    return { socket, isTunnelled: false };
  }
  // Loaded by whoever needs it: many upstreams are on this machine.
  const { connect } = process.getBuiltinModule('node:tls');
  const tunnel = proxy === undefined ? undefined : new Tunnel(proxy, host, port, options);
  const secure = {
    ...(tunnel === undefined ? { ...options, onread, host, port } : { socket: tunnel }),
    ...askedOf(host),
    ...(session === undefined ? {} : { session }),
  };
  const socket: TLSSocket = connect(secure);
  socket.on('session', (given: Buffer) => {
    endpoint.session = given;
  });
  return { socket, isTunnelled: tunnel !== undefined };
}
