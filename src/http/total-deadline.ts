import type { CallScope } from '../core/call.ts';
import { SluiceError } from '../core/errors.ts';
import type { Deadline } from '../routing/deadlines.ts';
import type { Deps } from './deps.ts';

/** Cancels a call when its time is over. A client may want less time than the server grants: `timeout` is in seconds. */
export function totalDeadline(
  { config, deadlines }: Pick<Deps, 'config' | 'deadlines'>,
  call: CallScope,
  timeout: number | null | undefined,
): Deadline {
  const totalMs = Math.min(config().limits.totalMs, (timeout ?? Number.POSITIVE_INFINITY) * 1_000);
  return deadlines.start(totalMs, () =>
    call.cancel(new SluiceError('upstream_timeout', `The answer took longer than ${totalMs} ms.`)),
  );
}
