import type { MemoryFilters, MemoryItem, MemoryQuery } from '../../core/stores.ts';
import type { Row } from './handle.ts';
import { type Statement, sql } from './sql.ts';

/** What every database knows of the rows of `memory`. */

/** Of a column's own type, or null; else nothing fits. */
export type FilterValue = MemoryFilters[string];
/** The condition that an item's metadata has this value under that name. */
export type HasMember = (name: string, value: FilterValue) => Statement;
type Columns = ReadonlyMap<string, { readonly column: Statement; readonly type: 'string' | 'number' }>;

const OF_METADATA: Columns = new Map([['conversation_id', { column: sql`memory.conversation_id`, type: 'string' }]]);
const OF_ITEM: Columns = new Map([
  ...OF_METADATA,
  ['id', { column: sql`memory.id`, type: 'string' }],
  ['user_id', { column: sql`memory.user_id`, type: 'string' }],
  ['role', { column: sql`memory.role`, type: 'string' }],
  ['memory', { column: sql`memory.text`, type: 'string' }],
  // Items of earlier sources have fractions of a millisecond, which no answer shows.
  ['created_at', { column: sql`floor(memory.created_at)`, type: 'number' }],
  ['updated_at', { column: sql`memory.updated_at`, type: 'number' }],
]);

/** What an item has to fulfil, all of it. */
export function conditions(
  { filters = {}, metadata = {} }: Pick<MemoryQuery, 'filters' | 'metadata'>,
  hasMember: HasMember,
): readonly Statement[] {
  const of = (members: MemoryFilters, columns: Columns) =>
    Object.entries(members).map(([name, value]) => condition(columns.get(name), value) ?? hasMember(name, value));
  return [...of(filters, OF_ITEM), ...of(metadata, OF_METADATA)];
}

/** Undefined: it is no column. */
function condition(own: ReturnType<Columns['get']>, value: FilterValue): Statement | undefined {
  if (own === undefined) return undefined;
  const { column, type } = own;
  if (value === null) return sql`${column} is null`;
  return typeof value === type && typeof value !== 'boolean' ? sql`${column} = ${value}` : sql`false`;
}

/** @param row all columns of `memory`, and `score` */
export function itemOf(row: Row): MemoryItem & { score?: number } {
  const score = row['score'];
  return {
    id: String(row['id']),
    userId: String(row['user_id']),
    role: String(row['role']),
    text: String(row['text']),
    conversationId: row['conversation_id'] === null ? null : String(row['conversation_id']),
    metadata: JSON.parse(String(row['metadata'])) as Record<string, unknown>,
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    ...(typeof score === 'number' ? { score } : {}),
  };
}
