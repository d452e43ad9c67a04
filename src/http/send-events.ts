import type { FastifyReply } from 'fastify';
import type { Call } from '../core/call.ts';
import { openStream } from './answer.ts';
import type { Deps } from './deps.ts';
import { lateFailure } from './late-failure.ts';
import { encodeStreamError } from './v1/encode.ts';

/**
 * Streams events that are written already, at the pace of the slower side, to a client that was told 200. A failure is an event
 * of its own, and nothing follows it.
 */
export async function sendEvents(
  reply: FastifyReply,
  events: AsyncIterable<Buffer | string>,
  headers: Readonly<Record<string, string>>,
  deps: Deps,
  call: Call,
): Promise<void> {
  const stream = openStream(reply, 'text/event-stream; charset=utf-8', headers, deps);
  try {
    for await (const event of events) {
      if (stream.closed) return;
      const isTaken =
        typeof event === 'string' ? stream.write(event) : stream.write(event.toString('latin1'), 'latin1');
      if (!isTaken) await stream.drained();
    }
  } catch (thrown) {
    if (stream.closed) return;
    stream.write(encodeStreamError(lateFailure(thrown, call, deps)));
  }
  stream.end();
}
