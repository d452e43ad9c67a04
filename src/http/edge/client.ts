import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { isLoopbackName } from '../../config/bind.ts';

/** Where a request comes from: the other end of its connection, or whom a trusted proxy names, where there may be one. */
export function addressOf(request: FastifyRequest): string {
  return request.headers['x-forwarded-for'] === undefined ? (request.socket.remoteAddress ?? '') : request.ip;
}

/** Whether a request came from this machine; sockets of IPv6 show an address of IPv4 as one of theirs, which counts as well. */
export function isLocal(address: string): boolean {
  return isLoopbackName(address);
}

/**
 * Whom an address stands for. All programs on this machine share one, which therefore counts for nobody. Whoever has a public
 * address of IPv6 has some 2^64 of them, so its network counts (RFC 4291 §2.5.4: the first 64 bits).
 */
export function clientOf(address: string): string | undefined {
  if (isLocal(address)) return undefined;
  const bare = withoutPort(address);
  if (!ipaddr.IPv6.isValid(bare)) return bare;
  const parsed = ipaddr.IPv6.parse(bare);
  // Of other kinds are those of a network at home or at work, in which each machine has one, and IPv4 within IPv6.
  if (parsed.range() !== 'unicast') return bare;
  return new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]).toString();
}

/** Some proxies say from which port somebody asked, which is another one with each connection. */
function withoutPort(address: string): string {
  return address.replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2');
}
