import { SluiceError } from '../../core/errors.ts';
import type { LogEntry, LogStore } from '../../core/stores.ts';
import { checkId } from '../id.ts';
import type { DatabaseHandle } from './handle.ts';
import { sql } from './sql.ts';

/** The client log is a ring: this many entries, the newest. */
export const MOST_ENTRIES = 10_000;
/** Bytes of one entry as JSON. */
const MOST_BYTES = 64 * 1024;

/** What clients logged: the newest entries, up to a number. */
export class SqlLog implements LogStore {
  readonly #database: DatabaseHandle;

  constructor(database: DatabaseHandle) {
    this.#database = database;
  }

  async add({ id, time, body }: LogEntry): Promise<void> {
    await this.#database.write(
      sql`insert into log (id, time, body) values (${checkId(id)}, ${time}, ${logBody(body)}) on conflict (id) do nothing`,
      sql`delete from log where number <= (select max(number) from log) - ${MOST_ENTRIES}`,
    );
  }

  async newest(limit: number): Promise<readonly LogEntry[]> {
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

/** The JSON of an entry's body, if it is small enough to be kept. */
function logBody(body: Readonly<Record<string, unknown>>): string {
  const json = JSON.stringify(body);
  if (Buffer.byteLength(json) > MOST_BYTES) {
    throw new SluiceError('too_large', `A log entry has at most ${MOST_BYTES} bytes.`);
  }
  return json;
}
