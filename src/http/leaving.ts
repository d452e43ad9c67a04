import type { FastifyReply } from 'fastify';
import { clientLeft } from '../core/errors.ts';

/** Aborted when the client leaves, and once its answer has been sent: work for it that is still under way is then for nobody. */
export function leaving(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort(clientLeft()));
  return gone.signal;
}
