import type {
  ConversationItem,
  ConversationRecord,
  ConversationStore,
  ItemRange,
  PlacedItem,
} from '../../core/stores.ts';
import { checkId } from '../id.ts';
import type { Dialect } from './dialect.ts';
import type { DatabaseHandle, Row } from './handle.ts';
import { type Statement, sql } from './sql.ts';

/** Conversations, a row for each of their items. */
export class SqlConversations implements ConversationStore {
  readonly #database: DatabaseHandle;
  readonly #dialect: Dialect;

  constructor(database: DatabaseHandle, dialect: Dialect) {
    this.#database = database;
    this.#dialect = dialect;
  }

  async create(conversation: ConversationRecord, items: readonly ConversationItem[]): Promise<void> {
    const { id, owner, createdAt, metadata } = conversation;
    await this.#database.write(
      sql`insert into conversations (id, owner, created_at, metadata)
          values (${checkId(id)}, ${owner}, ${createdAt}, ${JSON.stringify(metadata)})`,
      this.#adding(id, items),
    );
  }

  async get(id: string): Promise<ConversationRecord | undefined> {
    const [result] = await this.#database.read(
      sql`select owner, created_at, metadata from conversations where id = ${checkId(id)}`,
    );
    const [row] = result?.rows ?? [];
    if (row === undefined) return undefined;
    return {
      id,
      owner: row['owner'] === null ? null : String(row['owner']),
      createdAt: Number(row['created_at']),
      metadata: JSON.parse(String(row['metadata'])) as Record<string, string>,
    };
  }

  async describe(id: string, metadata: ConversationRecord['metadata']): Promise<boolean> {
    const [result] = await this.#database.write(
      sql`update conversations set metadata = ${JSON.stringify(metadata)} where id = ${checkId(id)}`,
    );
    return result?.changes === 1;
  }

  async delete(id: string): Promise<boolean> {
    const [, result] = await this.#database.write(
      sql`delete from conversation_items where conversation = ${numberOf(id)}`,
      sql`delete from conversations where id = ${id}`,
    );
    return result?.changes === 1;
  }

  async append(id: string, items: readonly ConversationItem[]): Promise<boolean> {
    const lock = this.#dialect.lock(sql`conversations where id = ${checkId(id)}`);
    const results = await this.#database.write(...lock, this.#adding(id, items));
    return items.length > 0 && results.at(-1)?.changes === items.length;
  }

  async items(id: string, { order, limit, bytes, ...between }: ItemRange): Promise<readonly PlacedItem[]> {
    const where = standing(id, between);
    const direction = order === 'asc' ? sql`asc` : sql`desc`;
    if (bytes === undefined) {
      return await this.#read(
        sql`select number, id, body from conversation_items where ${where} order by number ${direction} limit ${limit}`,
      );
    }
    // Lengths stand before the text itself: what is not shown is not read.
    return await this.#read(
      sql`select items.number, items.id, items.body from conversation_items as items join (
            select number, sum(octet_length(body)) over (order by number ${direction}) - octet_length(body) as before
            from conversation_items where ${where} order by number ${direction} limit ${limit}
          ) as measured on measured.number = items.number
          where measured.before < ${bytes} order by items.number ${direction}`,
    );
  }

  async size(
    id: string,
    between: Pick<ItemRange, 'above' | 'below'> = {},
  ): Promise<{ readonly items: number; readonly bytes: number }> {
    const [result] = await this.#database.read(
      sql`select count(*) as items, sum(octet_length(body)) as bytes from conversation_items where ${standing(id, between)}`,
    );
    const [row] = result?.rows ?? [];
    return { items: Number(row?.['items'] ?? 0), bytes: Number(row?.['bytes'] ?? 0) };
  }

  async find(id: string, items: readonly string[]): Promise<readonly PlacedItem[]> {
    const ids = this.#dialect.list(items.map((item) => [checkId(item)]));
    return await this.#read(
      sql`select number, id, body from conversation_items
          where conversation = ${numberOf(id)} and id in (select value ->> 0 from ${ids} as ids) order by number`,
    );
  }

  async deleteItem(id: string, item: string): Promise<boolean> {
    const [result] = await this.#database.write(
      sql`delete from conversation_items where conversation = ${numberOf(id)} and id = ${checkId(item)}`,
    );
    return result?.changes === 1;
  }

  /** Adds nothing where the conversation has gone, or one of the ids is taken. */
  #adding(id: string, items: readonly ConversationItem[]): Statement {
    const ids = items.map((item) => checkId(item.id));
    const added = this.#dialect.list(items.map((item) => [item.id, JSON.stringify(item.body)]));
    return sql`insert into conversation_items (conversation, id, body)
      select conversations.number, added.value ->> 0, added.value ->> 1
      from conversations, ${added} as added
      where conversations.id = ${id} and ${new Set(ids).size === ids.length ? sql`true` : sql`false`} and not exists (
        select 1 from conversation_items as present
        where present.conversation = conversations.number
          and present.id in (select value ->> 0 from ${this.#dialect.list(ids.map((each) => [each]))} as ids))
      order by added.key`;
  }

  async #read(statement: Statement): Promise<readonly PlacedItem[]> {
    const [result] = await this.#database.read(statement);
    return (result?.rows ?? []).map(itemOf);
  }
}

function standing(id: string, { above, below }: Pick<ItemRange, 'above' | 'below'>): Statement {
  let where = sql`conversation = ${numberOf(id)}`;
  if (above !== undefined) where = sql`${where} and number > ${above}`;
  if (below !== undefined) where = sql`${where} and number < ${below}`;
  return where;
}

function numberOf(id: string): Statement {
  return sql`(select number from conversations where id = ${checkId(id)})`;
}

function itemOf(row: Row): PlacedItem {
  return {
    place: Number(row['number']),
    id: String(row['id']),
    body: JSON.parse(String(row['body'])) as Record<string, unknown>,
  };
}
