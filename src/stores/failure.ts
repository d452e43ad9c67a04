import { SluiceError } from '../core/errors.ts';

/** The error of a store that is out of order. `reason` is a sentence that a client may see: no paths, no SQL. */
export function storageFailed(reason: string, cause?: unknown): SluiceError {
  return new SluiceError('storage_failed', `The storage is out of order. ${reason}`, {
    retryAfter: 5,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Why a database did not do what it was asked. */
export interface Failure {
  /** `storage`: the world is at fault; `too_large`: the value; `bug`: this program. */
  readonly kind: 'storage' | 'too_large' | 'bug';
  /** A sentence that a client may see. */
  readonly sentence: string;
  /** For the log. */
  readonly detail: string;
}

/** Why a command cannot use a database, with the server's or the system's own words where they say more. */
export function inWords(error: unknown, { sentence, detail }: Failure): string {
  return error instanceof Unusable ? sentence : `${sentence} ${detail}`;
}

/** What whoever asked gets to see of it. */
export function errorOf(failure: Failure): Error {
  switch (failure.kind) {
    case 'storage':
      return storageFailed(failure.sentence, new Error(failure.detail));
    case 'too_large':
      return new SluiceError('too_large', failure.sentence);
    case 'bug':
      return new Error(`${failure.sentence} ${failure.detail}`);
  }
}

/** The database cannot be used, for a reason that we found ourselves. */
export class Unusable extends Error {
  readonly sentence: string;

  constructor(sentence: string, detail: string) {
    super(detail);
    this.sentence = sentence;
  }
}
