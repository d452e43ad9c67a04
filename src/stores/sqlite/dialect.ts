import type { Dialect } from '../sql/dialect.ts';
import { sql } from '../sql/sql.ts';

/** https://www.sqlite.org/json1.html#jeach */
export const sqlite: Dialect = {
  list: (members) => sql`json_each(${JSON.stringify(members)})`,
  ifInserted: (insert, then) => [insert, then(sql`changes() = 1`)],
  // There is one writer.
  lock: () => [],
};
