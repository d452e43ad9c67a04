import type { IncomingHttpHeaders } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Limits } from '../config/config.ts';
import { defaultLimits } from '../config/defaults.ts';
import { SluiceError } from '../core/errors.ts';
import { collectBytes } from '../core/pieces.ts';
import { unlessAborted } from '../core/unless-aborted.ts';
import { isOwnAddress, isPublicAddress, type Resolve, resolveHost } from './address.ts';
import { bodyOf, tooLarge } from './guarded-body.ts';
import { toFailure } from './guarded-failure.ts';
import { type Guard, type Hop, judge, shown, type Target } from './guarded-target.ts';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** All in milliseconds, bytes or counts. */
export interface GuardedLimits {
  readonly connectMs: number;
  /** From the first lookup to the last byte, redirects included. */
  readonly totalMs: number;
  readonly bytes: number;
  /** The same for compressed bodies, unpacked. */
  readonly inflateBytes: number;
  readonly headerBytes: number;
  readonly redirects: number;
}

/** As the operator sets them; the rest is fixed. */
export function guardedLimits({ fetchBytes, fetchMs, fetchRedirects }: Limits): GuardedLimits {
  return {
    connectMs: 10_000,
    totalMs: fetchMs,
    bytes: fetchBytes,
    inflateBytes: 32 * 1024 * 1024,
    headerBytes: 16 * 1024,
    redirects: fetchRedirects,
  };
}

/** As they are where the configuration says nothing. */
export const defaultGuardedLimits: GuardedLimits = guardedLimits(defaultLimits);

/** What a guarded fetch is made of. Everything has a default; tests give their own network. */
export interface GuardedSettings {
  /** Asked with every fetch. */
  readonly limits?: () => GuardedLimits;
  readonly userAgent?: string;
  readonly resolve?: Resolve;
  readonly isPublic?: (address: string) => boolean;
}

/** What one fetch wants. */
export interface GuardedOptions {
  readonly signal?: AbortSignal;
  /** Welcome content types: `image/png`, or `image/` for all of a kind. Default: any. */
  readonly types?: readonly string[];
  /** Sent as `Accept`; default: anything. */
  readonly accept?: string;
  /** Smaller limits for this fetch; larger ones than the configured count for nothing. */
  readonly bytes?: number;
  readonly totalMs?: number;
  readonly redirects?: number;
  /** Origins that may be anywhere: a provider's own, a search engine from the configuration. */
  readonly allowedOrigins?: readonly string[];
  /** Makes it a POST of JSON, which follows no redirect. */
  readonly json?: unknown;
  /** Further headers, for services from the configuration only. A redirect does not get them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The server answered, but not with a 2xx status. */
export class AnsweredError extends SluiceError {
  readonly answered: number;

  constructor(name: string, answered: number, retryAfter: number) {
    super(
      answered === 429 ? 'rate_limited' : 'upstream_failed',
      `'${name}' answered ${answered}.`,
      answered === 429 && retryAfter > 0 ? { retryAfter } : {},
    );
    this.answered = answered;
  }
}

/** A 2xx answer whose body is still to come. */
export interface Fetched {
  /** Where it came from, after redirects. */
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  /** Lower case, without parameters; empty when the server named none. */
  readonly mimeType: string;
  /** Unpacked bytes within the limit. Throws `SluiceError`; closes the connection when the consumer stops early. */
  readonly body: AsyncIterable<Buffer>;
}

/**
 * Fetches an address that came from outside: from a model's answer, a page, a client. Such an address must not reach
 * anything but the public Internet, so each hop is resolved once, judged, and connected to exactly what was judged. No
 * cookies, no credentials, no proxy. Throws `SluiceError` with words for people.
 */
export type GuardedFetch = (address: string, options?: GuardedOptions) => Promise<Fetched>;

/** Without settings it uses the real network, and the limits that nobody has changed. */
export function createGuardedFetch(settings: GuardedSettings = {}): GuardedFetch {
  const guard: Guard = {
    resolve: settings.resolve ?? resolveHost,
    isPublic: settings.isPublic ?? ((address) => isPublicAddress(address) && !isOwnAddress(address)),
  };
  const configured = settings.limits ?? (() => defaultGuardedLimits);
  const userAgent = settings.userAgent ?? 'Sluice';

  return async (address, options = {}) => {
    const limits = narrowed(configured(), options);
    const timeout = AbortSignal.timeout(limits.totalMs);
    const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
    let hop: Hop = { text: address };
    let name = address.slice(0, 200);
    try {
      for (let redirects = 0; ; redirects += 1) {
        const target = await unlessAborted(judge(hop, options.allowedOrigins ?? [], guard), signal);
        name = shown(target.url);
        const headers = {
          'user-agent': userAgent,
          accept: options.accept ?? '*/*',
          'accept-encoding': 'gzip, br',
          ...(redirects === 0 ? options.headers : {}),
        };
        const response = await send(target, headers, options.json, limits, signal);
        if (!REDIRECTS.has(response.statusCode)) return accept(response, target.url, name, options, limits, signal);
        close(response);
        const { location } = response.headers;
        if (typeof location !== 'string') {
          throw new SluiceError('upstream_invalid', `'${name}' redirects without saying where to.`);
        }
        if (redirects >= limits.redirects || options.json !== undefined) {
          throw new SluiceError(
            'upstream_invalid',
            `'${name}' redirects; no more than ${limits.redirects} are followed.`,
          );
        }
        hop = { text: location, from: target.url };
      }
    } catch (error) {
      throw toFailure(error, name, signal, limits.totalMs);
    }
  };
}

/** All of a body. Its size was limited by the fetch. */
export function readAll(fetched: Pick<Fetched, 'body'>): Promise<Buffer> {
  return collectBytes(fetched.body);
}

/** One request on a connection of its own, which goes to the judged addresses whatever the name says by now. */
async function send(
  { url, addresses }: Target,
  headers: Readonly<Record<string, string>>,
  json: unknown,
  limits: GuardedLimits,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const { Client } = await import('undici');
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  // undici asks for all addresses of a host, whatever Node is told, and tries one after the other.
  const lookup: LookupFunction = (_host, _options, done) => done(null, found);
  const client = new Client(url.origin, {
    connect: { lookup, timeout: limits.connectMs },
    allowH2: false,
    autoSelectFamily: true,
    maxHeaderSize: limits.headerBytes,
    // One deadline for everything: the signal's.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return await client.request({
    path: `${url.pathname}${url.search}`,
    method: json === undefined ? 'GET' : 'POST',
    headers: json === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    signal,
    // The connection is not used again, so it ends with its answer.
    reset: true,
  });
}

function accept(
  response: Dispatcher.ResponseData,
  url: URL,
  name: string,
  options: GuardedOptions,
  limits: GuardedLimits,
  signal: AbortSignal,
): Fetched {
  try {
    const { statusCode, headers } = response;
    if (statusCode > 299) throw new AnsweredError(name, statusCode, Number(headers['retry-after']));
    const mimeType = (single(headers['content-type']).split(';')[0] ?? '').trim().toLowerCase();
    if (options.types !== undefined && !options.types.some((type) => isWelcome(mimeType, type))) {
      const what = mimeType === '' ? 'of no type' : mimeType.slice(0, 100);
      throw new SluiceError('upstream_invalid', `'${name}' is ${what}; that is not what is wanted here.`);
    }
    const encoding = single(headers['content-encoding']).toLowerCase();
    const isPlain = encoding === '' || encoding === 'identity';
    const limit = isPlain ? limits.bytes : Math.min(limits.bytes, limits.inflateBytes);
    if (isPlain && Number(headers['content-length'] ?? 0) > limit) throw tooLarge(name, limit);
    const body = bodyOf(response.body, encoding, limit, name);
    return { url, headers, mimeType, body: failing(body, name, signal, limits.totalMs) };
  } catch (error) {
    close(response);
    throw error;
  }
}

async function* failing(
  body: AsyncIterable<Buffer>,
  name: string,
  signal: AbortSignal,
  totalMs: number,
): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } catch (error) {
    throw toFailure(error, name, signal, totalMs);
  }
}

/** Ends an answer that nobody wants to the end. */
function close(response: Dispatcher.ResponseData): void {
  response.body.on('error', () => {}).destroy();
}

function narrowed(limits: GuardedLimits, options: GuardedOptions): GuardedLimits {
  return {
    ...limits,
    bytes: Math.min(limits.bytes, options.bytes ?? limits.bytes),
    totalMs: Math.min(limits.totalMs, options.totalMs ?? limits.totalMs),
    redirects: Math.min(limits.redirects, options.redirects ?? limits.redirects),
  };
}

function isWelcome(mimeType: string, type: string): boolean {
  return type.endsWith('/') ? mimeType.startsWith(type) : mimeType === type;
}

function single(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' ? header : (header?.join(',') ?? '');
}
