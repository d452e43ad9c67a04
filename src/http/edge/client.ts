import type { FastifyRequest } from 'fastify';
import { isLoopbackName } from '../../config/bind.ts';

/** An IPv4 address as sockets of IPv6 show it. */
const MAPPED = '::ffff:';

/** Where a request comes from: the other end of its connection, or whom a trusted proxy names, where there may be one. */
export function addressOf(request: FastifyRequest): string {
  return request.headers['x-forwarded-for'] === undefined ? (request.socket.remoteAddress ?? '') : request.ip;
}

/** Whether a request came from this machine. */
export function isLocal(address: string): boolean {
  return isLoopbackName(address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address);
}

/** Whom an address stands for. All programs on this machine share one, which therefore counts for nobody. */
export function clientOf(address: string): string | undefined {
  return isLocal(address) ? undefined : withoutPort(address);
}

/** Some proxies say from which port somebody asked, which is another one with each connection. */
function withoutPort(address: string): string {
  return address.replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2');
}
