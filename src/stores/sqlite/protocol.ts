import type { Failure } from '../failure.ts';
import type { Result } from '../sql/handle.ts';
import type { Statement } from '../sql/sql.ts';

/** What the gateway's thread and the database's thread tell each other. */
export type ToWorker =
  | { readonly type: 'request'; readonly request: Request }
  | { readonly type: 'check' }
  | { readonly type: 'recover' }
  | { readonly type: 'close' };

/** `checked`: what SQLite found damaged, line by line; empty: nothing. */
export type FromWorker =
  | { readonly type: 'opened'; readonly milliseconds: number; readonly bytes: number }
  /** Another Sluice uses the same data folder. */
  | { readonly type: 'shared' }
  /** Something failed that concerns more than one request. */
  | { readonly type: 'problem'; readonly failure: Failure }
  | { readonly type: 'recovered' }
  | { readonly type: 'checked'; readonly damage: readonly string[] }
  | { readonly type: 'answers'; readonly answers: readonly Answer[] };

/** Statements that happen together or not at all. */
export interface Request {
  readonly id: number;
  readonly writes: boolean;
  readonly statements: readonly Statement[];
}

/** To the request with this id: all of its results, or why there are none. */
export type Answer =
  | { readonly id: number; readonly results: readonly Result[] }
  | { readonly id: number; readonly failure: Failure };
