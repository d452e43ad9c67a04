import type { UploadQuery, UploadRecord, UploadStore } from '../../core/stores.ts';
import { checkId } from '../id.ts';
import type { DatabaseHandle, Row } from './handle.ts';
import { type Statement, sql } from './sql.ts';

/** What is known of the files of the Files API. */
export class SqlUploads implements UploadStore {
  readonly #database: DatabaseHandle;

  constructor(database: DatabaseHandle) {
    this.#database = database;
  }

  async add({ id, owner, name, mimeType, purpose, size, createdAt, expires, path }: UploadRecord): Promise<void> {
    await this.#database.write(
      sql`insert into uploads (id, owner, name, mime_type, purpose, size, created_at, expires, path)
          values (${checkId(id)}, ${owner}, ${name}, ${mimeType}, ${purpose}, ${size}, ${createdAt}, ${expires}, ${path})`,
    );
  }

  async get(id: string): Promise<UploadRecord | undefined> {
    const [found] = await this.#read(sql`select * from uploads where id = ${checkId(id)}`);
    return found;
  }

  async list({ owner, purpose, order, after, limit, now }: UploadQuery): Promise<readonly UploadRecord[]> {
    let where = sql`(owner is null or owner = ${owner}) and (expires is null or expires > ${now})`;
    if (purpose !== undefined) where = sql`${where} and purpose = ${purpose}`;
    if (after !== undefined) {
      const place = sql`(select number from uploads where id = ${checkId(after)})`;
      where = order === 'asc' ? sql`${where} and number > ${place}` : sql`${where} and number < ${place}`;
    }
    const direction = order === 'asc' ? sql`asc` : sql`desc`;
    return await this.#read(sql`select * from uploads where ${where} order by number ${direction} limit ${limit}`);
  }

  async delete(id: string): Promise<boolean> {
    const [result] = await this.#database.write(sql`delete from uploads where id = ${checkId(id)}`);
    return result?.changes === 1;
  }

  async expired(now: number, limit: number): Promise<readonly UploadRecord[]> {
    return await this.#read(sql`select * from uploads where expires <= ${now} order by expires limit ${limit}`);
  }

  async #read(statement: Statement): Promise<readonly UploadRecord[]> {
    const [result] = await this.#database.read(statement);
    return (result?.rows ?? []).map(uploadOf);
  }
}

function uploadOf(row: Row): UploadRecord {
  return {
    id: String(row['id']),
    owner: row['owner'] === null ? null : String(row['owner']),
    name: String(row['name']),
    mimeType: String(row['mime_type']),
    purpose: String(row['purpose']),
    size: Number(row['size']),
    createdAt: Number(row['created_at']),
    expires: row['expires'] === null ? null : Number(row['expires']),
    path: String(row['path']),
  };
}
