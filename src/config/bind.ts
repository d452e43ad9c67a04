import { BlockList, isIP } from 'node:net';

/** Where Sluice listens. */
export interface Bind {
  /** A host name or an address, without brackets. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** What `bind` may be, in words. */
export const BIND_FORMS =
  'host:port, [IPv6 address]:port, :port (all interfaces) or a port (loopback), with a port from 0 to 65535';

const FORM = /^(?:(?<plain>[^\s:[\]]*):|\[(?<bracketed>[^\s[\]]+)\]:)?(?<port>\d{1,5})$/;
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** An address to listen on from its text; undefined when it has none of the allowed forms. */
export function parseBind(text: string): Bind | undefined {
  const groups = FORM.exec(text.trim())?.groups;
  if (groups === undefined) return undefined;
  const { plain, bracketed, port: digits } = groups;
  const port = Number(digits);
  if (port > 65_535) return undefined;
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? { host: bracketed, port } : undefined;
  if (plain === undefined) return { host: '127.0.0.1', port };
  // Not `::`, which fails to open on machines without IPv6.
  if (plain === '') return { host: '0.0.0.0', port };
  const host = plain.toLowerCase();
  // A name of digits and dots alone is a mistyped address, and resolvers disagree on what it means.
  const isName = HOST_NAME.test(host) && !/^[\d.]+$/.test(host);
  return isName || isIP(host) === 4 ? { host, port } : undefined;
}

/** Whether only programs on this machine can reach that host. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const family = isIP(host);
  return family !== 0 && loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a name, too, leads to this machine alone (RFC 6761 §6.3). */
export function isLoopbackName(name: string): boolean {
  // The most frequent ones need not be parsed.
  return name === '127.0.0.1' || name === '::1' || name.endsWith('.localhost') || isLoopback(name);
}

/** `host:port` as it stands in an address, with brackets where IPv6 needs them. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
