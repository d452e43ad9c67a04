import type { Dialect } from '../sql/dialect.ts';
import { sql } from '../sql/sql.ts';

/** A list is one parameter of JSON, however long it is. */
export const postgres: Dialect = {
  list: (members) =>
    sql`(select value, ordinality as key from json_array_elements(${JSON.stringify(members, storable)}::json) with ordinality)`,
  // Statements of one transaction do not know of each other what they have changed, but parts of one statement do.
  ifInserted: (insert, then) => [
    sql`with inserted as (${insert} returning 1) ${then(sql`exists (select 1 from inserted)`)}`,
  ],
  lock: (rows) => [sql`select 1 from ${rows} for update`],
};

/** NUL, and halves of surrogate pairs, are no text for PostgreSQL, not even escaped. */
export const storable = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? storableText(value) : value;

/** A text as PostgreSQL can keep it. */
export function storableText(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text).toWellFormed();
}
