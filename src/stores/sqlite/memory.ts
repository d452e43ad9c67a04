import type { MemoryItem, MemoryPage, MemoryQuery, MemoryStore } from '../../core/stores.ts';
import { checkId } from '../id.ts';
import type { DatabaseHandle } from '../sql/handle.ts';
import { conditions, type FilterValue, type HasMember, itemOf } from '../sql/memory-items.ts';
import { type Statement, sql } from '../sql/sql.ts';
import { goesOn, ownerWord, searchTerms, spaced } from '../words.ts';

/** Taking words out of the index leaves no trace of them and takes its time, in which other requests wait. */
const DELETED_AT_ONCE = 500;

/** Memory with the full-text index of SQLite (FTS5), ranked by BM25. */
export class SqliteMemory implements MemoryStore {
  readonly #database: DatabaseHandle;

  constructor(database: DatabaseHandle) {
    this.#database = database;
  }

  async add(items: readonly MemoryItem[]): Promise<void> {
    await this.#database.write(...items.flatMap(adding));
  }

  async find(userId: string, { text, filters = {}, metadata = {}, offset, limit }: MemoryQuery): Promise<MemoryPage> {
    let where = sql`memory.user_id = ${checkId(userId)}`;
    for (const each of conditions({ filters, metadata }, hasMember)) where = sql`${where} and ${each}`;
    let from = sql`memory`;
    let score = sql`null`;
    if (text !== undefined) {
      const match = matching(userId, text);
      if (match === undefined) return { total: 0, items: [] };
      from = sql`memory_words join memory on memory.number = memory_words.rowid`;
      where = sql`memory_words match ${match} and ${where}`;
      // Lower is better in SQLite; the word that stands for the user has no weight.
      score = sql`-bm25(memory_words, 0, 1)`;
    }
    const [counted, page] = await this.#database.read(
      sql`select count(*) as total from ${from} where ${where}`,
      sql`select memory.*, ${score} as score from ${from} where ${where}
          order by score desc, memory.created_at desc, memory.number desc limit ${limit} offset ${offset}`,
    );
    return { total: Number(counted?.rows[0]?.['total'] ?? 0), items: (page?.rows ?? []).map(itemOf) };
  }

  async delete(userId: string, id?: string): Promise<number> {
    if (id !== undefined) return await this.#delete(sql`user_id = ${checkId(userId)} and id = ${checkId(id)}`);
    const all = sql`user_id = ${checkId(userId)}`;
    for (let count = 0; ; ) {
      const deleted = await this.#delete(all);
      count += deleted;
      if (deleted < DELETED_AT_ONCE) return count;
    }
  }

  async #delete(which: Statement): Promise<number> {
    const numbers = sql`select number from memory where ${which}
      order by created_at desc, number desc limit ${DELETED_AT_ONCE}`;
    const [, deleted] = await this.#database.write(
      sql`delete from memory_words where rowid in (${numbers})`,
      sql`delete from memory where number in (${numbers})`,
    );
    return deleted?.changes ?? 0;
  }
}

function adding(item: MemoryItem): readonly Statement[] {
  const { userId, id, role, text, conversationId, metadata, createdAt, updatedAt } = item;
  const which = sql`user_id = ${checkId(userId)} and id = ${checkId(id)}`;
  return [
    sql`delete from memory_words where rowid in (select number from memory where ${which})`,
    sql`insert into memory (user_id, id, role, text, conversation_id, metadata, created_at, updated_at)
        values (${userId}, ${id}, ${role}, ${text}, ${conversationId}, ${JSON.stringify(metadata)},
                ${createdAt}, ${updatedAt})
        on conflict (user_id, id) do update set
          role = excluded.role, text = excluded.text, conversation_id = excluded.conversation_id,
          metadata = excluded.metadata, updated_at = excluded.updated_at`,
    sql`insert into memory_words (rowid, owner, text)
        select number, ${ownerWord(userId)}, ${spaced(text)} from memory where ${which}`,
  ];
}

/** An expression of FTS5 for any of the words, some of which may go on. Undefined: there is nothing to search for. */
function matching(userId: string, text: string): string | undefined {
  const terms = searchTerms(text);
  if (terms.length === 0) return undefined;
  // A term consists of letters, digits and marks, so the quotes cannot be left.
  const words = terms.map((term, at) => `"${spaced(term)}"${goesOn(terms, at) ? ' *' : ''}`);
  return `owner : "${ownerWord(userId)}" AND text : (${words.join(' OR ')})`;
}

/** A member of the metadata. The name is compared as a value, not built into a path, so nothing in it can mean anything. */
const hasMember: HasMember = (name, value) =>
  sql`exists (select 1 from json_each(memory.metadata) as entry where entry.key = ${name} and ${equals(value)})`;

function equals(value: FilterValue): Statement {
  if (value === null) return sql`entry.type = 'null'`;
  if (typeof value === 'boolean') return sql`entry.type = ${String(value)}`;
  if (typeof value === 'string') return sql`entry.type = 'text' and entry.value = ${value}`;
  return sql`entry.type in ('integer', 'real') and entry.value = ${value}`;
}
