import type { Statement, Value } from './sql.ts';

/** What the stores ask: a database whose thread is in this process, or in another one. */
export interface DatabaseHandle {
  /** What is wrong with it, in a sentence. */
  readonly problem: string | undefined;
  /** Statements that see one and the same state of the database; they must not write. */
  read(...statements: readonly Statement[]): Promise<readonly Result[]>;
  /** Statements that happen together or not at all; when the promise is fulfilled they are on the disk. */
  write(...statements: readonly Statement[]): Promise<readonly Result[]>;
  /** Looks whether writing works again, where it failed: `problem` knows once what is read after this is answered. */
  recover(): void;
  /** Answers what was asked before, then closes the file. */
  close(): Promise<void>;
}

/** What the gateway's thread and the database's thread tell each other. */
export type ToWorker =
  | { readonly type: 'request'; readonly request: Request }
  | { readonly type: 'check' }
  | { readonly type: 'recover' }
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

/** Values by column. */
export type Row = Readonly<Record<string, Value>>;

/** What one statement gave. */
export interface Result {
  readonly rows: readonly Row[];
  /** Rows that were inserted, updated or deleted. */
  readonly changes: number;
}

/** To the request with this id: all of its results, or why there are none. */
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
