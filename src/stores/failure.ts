import { SluiceError } from '../core/errors.ts';

/** The error of a store that is out of order. `reason` is a sentence that a client may see: no paths, no SQL. */
export function storageFailed(reason: string, cause?: unknown): SluiceError {
  return new SluiceError('storage_failed', `The storage is out of order. ${reason}`, {
    retryAfter: 5,
    ...(cause === undefined ? {} : { cause }),
  });
}
