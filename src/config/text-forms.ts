import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Forms of texts in the configuration. Each returns the normalised text, or undefined when the form is wrong. */

/** Each `…_FORM` is what a complaint says is allowed, and belongs to the function below it. */
export const BASE_URL_FORM =
  'an http or https address such as https://host/v1, without user name, password, query, fragment or /chat/completions';

/** The same for whoever is no model: a search engine, a collector. */
export const SERVER_FORM =
  'an http or https address such as http://127.0.0.1:8080, without user name, password, query or fragment';

/** An upstream's address without a trailing slash. */
export function parseBaseUrl(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined;
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  return path.endsWith('/chat/completions') ? undefined : url.origin + path;
}

export const DATABASE_FORM = 'the address of a PostgreSQL database such as postgres://user:password@host:5432/sluice';

/** The address of a database, as libpq takes it (https://www.postgresql.org/docs/current/libpq-connect.html). */
export function parseDatabase(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol) || url.hash !== '') return undefined;
  // Without a name the server would take the user's.
  return /^\/[^/]+$/.test(url.pathname) ? text.trim() : undefined;
}

export const ORIGIN_FORM = 'an origin such as https://chat.example.org, without a path; * is not possible';

/** An origin as browsers send it. */
export function parseOrigin(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || url.origin === 'null' || `${url.origin}/` !== url.href) return undefined;
  return url.origin;
}

export const HOST_FORM = 'a host name or address such as sluice.example.org, without scheme and port';

/** A host as it stands in a Host header, without the port. */
export function parseHost(text: string): string | undefined {
  const host = text.trim().toLowerCase();
  if (/[\s/@?#*%\\]/.test(host)) return undefined;
  const url = URL.parse(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}/`);
  return url === null || url.port !== '' || url.hostname === '' ? undefined : url.hostname;
}

export const PROXIES_FORM =
  'an address or a range such as 10.0.0.0/8, or loopback, linklocal or uniquelocal (private networks)';

/** Names that `@fastify/proxy-addr` has for ranges. */
const RANGES: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** Addresses of proxies, as Fastify takes them. */
export function parseProxies(text: string): string | undefined {
  const range = text.trim().toLowerCase();
  const [base = '', bits] = range.split('/', 2);
  const isRange = isIP(base) !== 0 && (bits === undefined || (bits !== '0' && ipaddr.isValidCIDR(range)));
  return RANGES.has(range) || isRange ? range : undefined;
}

export const KEY_FORM = 'a text of visible ASCII characters without blanks';

/** A key that a header can carry. */
export function parseKey(text: string): string | undefined {
  return /^[\x21-\x7e]+$/.test(text.trim()) ? text.trim() : undefined;
}

export const HEADER_NAME_FORM =
  'the name of a header, not one that belongs to the connection (Host, Connection, Content-Length, …)';

const CONNECTION_HEADERS = new Set(
  'connection content-length content-type expect host keep-alive te trailer transfer-encoding upgrade'.split(' '),
);

/** A header's name in lower case (RFC 9110 §5.1). */
export function parseHeaderName(text: string): string | undefined {
  const name = text.trim().toLowerCase();
  return /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) && !CONNECTION_HEADERS.has(name) ? name : undefined;
}

export const HEADER_VALUE_FORM = 'a text on one line';

/** A header's value: no control characters (RFC 9110 §5.5). */
export function parseHeaderValue(text: string): string | undefined {
  return /^[\t\x20-\x7e\x80-\xff]+$/.test(text) ? text.trim() : undefined;
}
