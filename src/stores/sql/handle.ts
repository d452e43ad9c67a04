import type { Statement, Value } from './sql.ts';

/** What the stores ask: a database whose thread is in this process, or in another one, or a server. */
export interface DatabaseHandle {
  /** What is wrong with it, in a sentence. */
  readonly problem: string | undefined;
  /** Statements that see one and the same state of the database; they must not write. */
  read(...statements: readonly Statement[]): Promise<readonly Result[]>;
  /** Statements that happen together or not at all; when the promise is fulfilled they are on the disk. */
  write(...statements: readonly Statement[]): Promise<readonly Result[]>;
  /** Looks whether writing works again, where it failed: `problem` knows once what is read after this is answered. */
  recover(): void;
  /** Answers what was asked before, then closes it. */
  close(): Promise<void>;
}

/** Values by column. */
export type Row = Readonly<Record<string, Value>>;

/** What one statement gave. */
export interface Result {
  readonly rows: readonly Row[];
  /** Rows that were inserted, updated or deleted. */
  readonly changes: number;
}
