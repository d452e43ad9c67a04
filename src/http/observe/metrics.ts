import { SluiceError } from '../../core/errors.ts';
import type { Deps, Handler } from '../deps.ts';
import { addressOf, isLocal } from '../edge/client.ts';

/** `GET /metrics`: counters in the text format of Prometheus. Without an access key they are for this machine alone. */
export function metrics({ observer, config, calls, version }: Deps): Handler {
  return async (request, reply) => {
    if (config().key === undefined && !isLocal(addressOf(request))) {
      throw new SluiceError(
        'forbidden',
        'Without an access key, metrics are shown to this machine only. Set a key, and send it as "Authorization: Bearer <key>".',
      );
    }
    const text = await observer.ledger.render({ running: calls.running, streams: observer.streams, version });
    return reply.header('content-type', 'text/plain; version=0.0.4; charset=utf-8').send(text);
  };
}
