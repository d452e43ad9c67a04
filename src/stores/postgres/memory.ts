import type { MemoryItem, MemoryPage, MemoryQuery, MemoryStore } from '../../core/stores.ts';
import { checkId } from '../id.ts';
import type { DatabaseHandle } from '../sql/handle.ts';
import { conditions, type FilterValue, type HasMember, itemOf } from '../sql/memory-items.ts';
import { type Statement, sql } from '../sql/sql.ts';
import { postgres } from './dialect.ts';
import { queriesOf, vectorOf } from './words.ts';

/** Memory with PostgreSQL's full-text search. */
export class PostgresMemory implements MemoryStore {
  readonly #database: DatabaseHandle;

  constructor(database: DatabaseHandle) {
    this.#database = database;
  }

  async add(items: readonly MemoryItem[]): Promise<void> {
    if (items.length > 0) await this.#database.write(...items.map(adding));
  }

  async find(userId: string, { text, filters = {}, metadata = {}, offset, limit }: MemoryQuery): Promise<MemoryPage> {
    const ofUser = sql`memory.user_id = ${checkId(userId)}`;
    let where = ofUser;
    for (const each of conditions({ filters, metadata }, hasMember)) where = sql`${where} and ${each}`;
    let found = sql`select memory.*, null::double precision as score from memory where ${where}`;
    if (text !== undefined) {
      const queries = queriesOf(text);
      if (queries.length === 0) return { total: 0, items: [] };
      found = ranked(ofUser, queries, where);
      where = sql`${where} and memory.words @@ ${queries.join(' | ')}::tsquery`;
    }
    const [counted, page] = await this.#database.read(
      sql`select count(*) as total from memory where ${where}`,
      sql`${found} order by score desc, created_at desc, number desc limit ${limit} offset ${offset}`,
    );
    return { total: Number(counted?.rows[0]?.['total'] ?? 0), items: (page?.rows ?? []).map(itemOf) };
  }

  async delete(userId: string, id?: string): Promise<number> {
    const which = sql`user_id = ${checkId(userId)}`;
    const [deleted] = await this.#database.write(
      sql`delete from memory where ${id === undefined ? which : sql`${which} and id = ${checkId(id)}`}`,
    );
    return deleted?.changes ?? 0;
  }
}

/**
 * The items that any of the queries finds, with their scores. As in BM25, a word that few items of the user have says more than one
 * that all have; the rank counts how often, and how long an item is. Each item is compared with each query once, and what was
 * found is had by its number: the planner cannot know how much that is, and must not choose otherwise. There is no index of the words:
 * it would find those of all users, and where there are many users the planner takes it all the same.
 */
function ranked(ofUser: Statement, queries: readonly string[], where: Statement): Statement {
  return sql`
    with mine as (select count(*)::double precision as items from memory where ${ofUser}),
    asked as materialized (
      select key, (value ->> 0)::tsquery as query from ${postgres.list(queries.map((query) => [query]))} as listed),
    matches as materialized (
      select key, memory.number as item, ts_rank(memory.words, query, 1) as rank
      from asked join memory on ${ofUser} and memory.words @@ query),
    counted as (select item, rank, count(*) over (partition by key) as frequency from matches),
    scores as (
      select item, sum(ln(1 + (items - frequency + 0.5) / (frequency + 0.5)) * rank) as score
      from counted cross join mine group by item)
    select found.*, score from scores cross join lateral (
      select memory.* from memory where memory.number = item and ${where} offset 0) as found`;
}

function adding(item: MemoryItem): Statement {
  const { userId, id, role, text, conversationId, metadata, createdAt, updatedAt } = item;
  const { members, words } = foundBy(item);
  return sql`
    insert into memory
      (user_id, id, role, text, conversation_id, metadata, members, created_at, updated_at, words)
    values (${checkId(userId)}, ${checkId(id)}, ${role}, ${text}, ${conversationId}, ${JSON.stringify(metadata)},
            ${members}, ${createdAt}, ${updatedAt}, ${words}::tsvector)
    on conflict (user_id, id) do update set
      role = excluded.role, text = excluded.text, conversation_id = excluded.conversation_id, metadata = excluded.metadata,
      members = excluded.members, updated_at = excluded.updated_at, words = excluded.words`;
}

/** What an item is found by, in columns that only this database has. */
export function foundBy({ text, metadata }: Pick<MemoryItem, 'text' | 'metadata'>): {
  readonly members: string;
  readonly words: string;
} {
  return { members: membersOf(metadata), words: vectorOf(text) };
}

/** Lines of `["name",value]`: no line feed stands in JSON, so that each can be looked for as it is. */
function membersOf(metadata: MemoryItem['metadata']): string {
  const members = Object.entries(metadata).filter(([, value]) => value === null || typeof value !== 'object');
  return `\n${members.map((member) => `${JSON.stringify(member)}\n`).join('')}`;
}

const hasMember: HasMember = (name: string, value: FilterValue) =>
  sql`strpos(memory.members, ${`\n${JSON.stringify([name, value])}\n`}) > 0`;
