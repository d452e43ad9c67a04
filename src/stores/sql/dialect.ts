import type { Statement } from './sql.ts';

/** What one SQL database says otherwise than another one. All else is written so that each of them understands it. */
export interface Dialect {
  /** The members of a list as rows: `key` counts up, `value` is the member as JSON, of which `->>` takes parts. Stands behind `from`, and needs a name. */
  list(members: readonly unknown[]): Statement;
  /** An `insert` and what happens only where it has inserted something, for which `then` gets the condition. The last result is that of `then`. */
  ifInserted(insert: Statement, then: (inserted: Statement) => Statement): readonly Statement[];
  /** What to do first in a `write` that looks at rows before it changes something beside them, so that no other one does the same meanwhile. */
  lock(rows: Statement): readonly Statement[];
}
