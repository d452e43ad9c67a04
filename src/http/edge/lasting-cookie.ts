import type { FastifyReply } from 'fastify';
import { isSecure } from '../origin.ts';

const A_YEAR = 31_536_000;

/** Gives a browser a cookie that no script and no other site can use, and no connection without TLS once it came by one. */
export function setLastingCookie(reply: FastifyReply, name: string, value: string): void {
  const secure = isSecure(reply.request) ? '; Secure' : '';
  reply.header('set-cookie', `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${A_YEAR}${secure}`);
}
