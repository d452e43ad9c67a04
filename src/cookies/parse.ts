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
 *
 * @param isWanted whose cookies are taken from a recording, which holds those of every site that was open, odd ones among them
 */
export function parseCookies(
  text: string,
  isWanted: (domain: string) => boolean = () => true,
): {
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
  const claimed = entries.flatMap(recorded);
  if (claimed.length === 0) throw refused('it holds no cookies');
  const wanted = claimed.filter(({ domain }) => typeof domain !== 'string' || isWanted(withoutDot(domain)));
  return { kind: 'har', cookies: notTooMany(latest(wanted.map(cookie))) };
}

/** Each cookie once, as it was last: a recording repeats them with every request. */
function latest(cookies: readonly BrowserCookie[]): readonly BrowserCookie[] {
  return [...new Map(cookies.map((each) => [JSON.stringify([each.domain, each.path, each.name]), each])).values()];
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
function recorded(entry: unknown): Claimed[] {
  const request = (entry as { request?: { url?: unknown; cookies?: unknown; headers?: unknown } } | null)?.request;
  if (typeof request?.url !== 'string' || !URL.canParse(request.url)) return [];
  const { hostname, protocol } = new URL(request.url);
  const listed = Array.isArray(request.cookies) ? request.cookies : [];
  return (listed.length > 0 ? listed : inHeader(request.headers)).map((each) => {
    const { domain, name, value, path } = (each ?? {}) as Record<string, unknown>;
    return { domain: domain ?? hostname, name, value, path, secure: protocol === 'https:' };
  });
}

/** Some programs record the header alone, and leave the list of cookies empty. */
function inHeader(headers: unknown): readonly { readonly name: string; readonly value: string }[] {
  const all: readonly unknown[] = Array.isArray(headers) ? headers : [];
  return all.flatMap((each) => {
    const { name, value } = (each ?? {}) as Record<string, unknown>;
    if (typeof name !== 'string' || name.toLowerCase() !== 'cookie' || typeof value !== 'string') return [];
    return value.split(';').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at === -1 ? [] : [{ name: pair.slice(0, at).trim(), value: pair.slice(at + 1).trim() }];
    });
  });
}

type Claimed = { readonly [Name in Exclude<keyof BrowserCookie, 'secure'>]?: unknown } & { readonly secure: boolean };

function cookie({ domain, name, value, path, secure, expires }: Claimed): BrowserCookie {
  if (typeof domain !== 'string' || typeof name !== 'string' || typeof value !== 'string') {
    throw refused('an entry has no domain, name and value');
  }
  const host = withoutDot(domain);
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

function withoutDot(domain: string): string {
  return domain.replace(/^\./, '').toLowerCase();
}

function checked(cookies: readonly BrowserCookie[]): readonly BrowserCookie[] {
  if (cookies.length === 0) throw refused('it holds no cookies');
  return notTooMany(cookies);
}

function notTooMany(cookies: readonly BrowserCookie[]): readonly BrowserCookie[] {
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
