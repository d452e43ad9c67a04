import { SluiceError } from '../core/errors.ts';

/** A cookie as a browser holds it. */
export interface BrowserCookie {
  /** Without a leading dot. */
  readonly domain: string;
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly secure: boolean;
  /** For this host alone, and none below it. */
  readonly hostOnly?: true;
  /** Seconds since 1970; undefined: until the browser closes, which for us is until it is replaced. */
  readonly expires?: number;
}

/** Cookies that one file may hold. */
const MOST = 20_000;
const LONGEST_VALUE = 8 * 1024;
/** RFC 6265 §4.1.1: tokens and cookie octets, with the characters that browsers let through. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
const VALUE = /^[\x20-\x3a\x3c-\x7e]*$/;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Cookies of an uploaded file: JSON as browser extensions export it, or a HAR recording. Throws `invalid_request` for anything
 * else; its text holds nothing of the file.
 */
export function parseCookies(text: string): {
  readonly kind: 'json' | 'har';
  readonly cookies: readonly BrowserCookie[];
} {
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw refused('it is no JSON');
  }
  if (Array.isArray(json)) return { kind: 'json', cookies: checked(json.map(exported)) };
  const entries = (json as { log?: { entries?: unknown } } | null)?.log?.entries;
  if (!Array.isArray(entries)) throw refused('it is neither a list of cookies nor a HAR recording');
  return { kind: 'har', cookies: checked(entries.flatMap(recorded)) };
}

/** One entry of a list, in the words of the common browser extensions. */
function exported(entry: unknown): BrowserCookie {
  const fields = (entry ?? {}) as Record<string, unknown>;
  const { domain, name, value, path, secure, hostOnly, expirationDate, expires } = fields;
  const until = typeof expirationDate === 'number' ? expirationDate : expires;
  const read = cookie({ domain, name, value, path, secure: secure === true, expires: until });
  return hostOnly === true ? { ...read, hostOnly } : read;
}

/** The cookies that one recorded request sent. */
function recorded(entry: unknown): BrowserCookie[] {
  const request = (entry as { request?: { url?: unknown; cookies?: unknown } } | null)?.request;
  if (typeof request?.url !== 'string' || !URL.canParse(request.url) || !Array.isArray(request.cookies)) return [];
  const { hostname, protocol } = new URL(request.url);
  return request.cookies.map((each) => {
    const { domain, name, value, path } = (each ?? {}) as Record<string, unknown>;
    return cookie({ domain: domain ?? hostname, name, value, path, secure: protocol === 'https:' });
  });
}

type Claimed = { readonly [Name in Exclude<keyof BrowserCookie, 'secure'>]?: unknown } & { readonly secure: boolean };

function cookie({ domain, name, value, path, secure, expires }: Claimed): BrowserCookie {
  if (typeof domain !== 'string' || typeof name !== 'string' || typeof value !== 'string') {
    throw refused('an entry has no domain, name and value');
  }
  const host = domain.replace(/^\./, '').toLowerCase();
  if (host.length > 253 || !DOMAIN.test(host) || !NAME.test(name))
    throw refused('an entry has a domain or name that no cookie has');
  if (value.length > LONGEST_VALUE || !VALUE.test(value)) throw refused('an entry has a value that no cookie has');
  return {
    domain: host,
    name,
    value,
    path: typeof path === 'string' && /^\/[\x21-\x3a\x3c-\x7e]{0,1000}$/.test(path) ? path : '/',
    secure,
    ...(typeof expires === 'number' && Number.isFinite(expires) && expires > 0 ? { expires } : {}),
  };
}

function checked(cookies: readonly BrowserCookie[]): readonly BrowserCookie[] {
  if (cookies.length === 0) throw refused('it holds no cookies');
  if (cookies.length > MOST) throw refused(`it holds more than ${MOST} cookies`);
  return cookies;
}

function refused(why: string): SluiceError {
  return new SluiceError(
    'invalid_request',
    `This is not a file of cookies: ${why}. Upload the JSON of a browser extension, or a HAR recording.`,
    { param: 'file' },
  );
}
