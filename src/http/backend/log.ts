import { randomUUID } from 'node:crypto';
import { SluiceError } from '../../core/errors.ts';
import type { Deps, Handler } from '../deps.ts';
import type { JsonBody } from '../edge/json-body.ts';
import { userOf } from '../user.ts';
import { RECORD_BYTES, withoutControls } from './record.ts';

/** `POST log`: errors that a front end saw and its user agreed to report. */
export function postLog(deps: Deps): Handler {
  return async (request) => {
    const { value, bytes } = request.body as JsonBody;
    if (bytes.length > RECORD_BYTES)
      throw new SluiceError('too_large', `A log record has at most ${RECORD_BYTES} bytes.`);
    const { time: _, ip: __, ...body } = withoutControls(value) as Record<string, unknown>;
    await deps.stores.log.add({
      id: randomUUID(),
      time: Date.now(),
      body: { ...body, user: userOf(request, body['user']), origin: request.headers.origin ?? null },
    });
    return {};
  };
}
