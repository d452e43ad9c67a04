import type { Statement, Value } from './sql.ts';

/** What the gateway's thread and the database's thread tell each other. */
export type ToWorker =
  | { readonly type: 'request'; readonly request: Request }
  | { readonly type: 'check' }
  | { readonly type: 'close' };

export type FromWorker =
  | { readonly type: 'opened'; readonly milliseconds: number; readonly bytes: number }
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

export type Row = Readonly<Record<string, Value>>;

export interface Result {
  readonly rows: readonly Row[];
  /** Rows that were inserted, updated or deleted. */
  readonly changes: number;
}

export type Answer =
  | { readonly id: number; readonly results: readonly Result[] }
  | { readonly id: number; readonly failure: Failure };

export interface Failure {
  /** `storage`: the world is at fault; `too_large`: the value; `bug`: this program. */
  readonly kind: 'storage' | 'too_large' | 'bug';
  /** A sentence that a client may see. */
  readonly sentence: string;
  /** For the log. */
  readonly detail: string;
}
