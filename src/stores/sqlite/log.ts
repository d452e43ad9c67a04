import type { LogStore } from '../../core/stores.ts';
import { checkId } from '../id.ts';
import { logBody, MOST_ENTRIES } from '../log-limits.ts';
import type { DatabaseHandle } from './protocol.ts';
import { sql } from './sql.ts';

/** What clients logged: the newest entries, up to a number. */
export class SqliteLog implements LogStore {
  readonly #database: DatabaseHandle;

  constructor(database: DatabaseHandle) {
    this.#database = database;
  }

  async add({ id, time, body }: Parameters<LogStore['add']>[0]): Promise<void> {
    await this.#database.write(
      sql`insert into log (id, time, body) values (${checkId(id)}, ${time}, ${logBody(body)}) on conflict (id) do nothing`,
      sql`delete from log where number <= (select max(number) from log) - ${MOST_ENTRIES}`,
    );
  }

  async newest(limit: number): ReturnType<LogStore['newest']> {
    const [result] = await this.#database.read(
      sql`select id, time, body from log order by time desc, number desc limit ${limit}`,
    );
    return (result?.rows ?? []).map((row) => ({
      id: String(row['id']),
      time: Number(row['time']),
      body: JSON.parse(String(row['body'])) as Record<string, unknown>,
    }));
  }
}
