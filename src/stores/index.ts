import { existsSync } from 'node:fs';
import path from 'node:path';
import { decoded } from '../core/decoded.ts';
import type { Logger } from '../core/logger.ts';
import type { BucketRecord, CacheRecord, ChatRecord, ResponseRecord, Stores } from '../core/stores.ts';
import { DiskFiles } from './disk/files.ts';
import { PostgresDatabase } from './postgres/database.ts';
import { postgres } from './postgres/dialect.ts';
import { PostgresMemory } from './postgres/memory.ts';
import { SqlConversations } from './sql/conversations.ts';
import type { DatabaseHandle } from './sql/handle.ts';
import { SqlLog } from './sql/log.ts';
import { SqlRecords } from './sql/records.ts';
import { SqlUploads } from './sql/uploads.ts';
import { SqlUsage } from './sql/usage.ts';
import { Database } from './sqlite/database.ts';
import { sqlite } from './sqlite/dialect.ts';
import { SqliteMemory } from './sqlite/memory.ts';

/** Cached answers and searches that are kept; those that expire first go first. */
const MOST_CACHES = 10_000;
/** Answers of the Responses API, where nobody sets another limit. */
const MOST_RESPONSES = 10_000;

/** The database of a data folder, where none on a server is named. */
export const databaseOf = (dataDir: string): string => path.join(dataDir, 'sluice.db');

/** Where things are kept. */
export interface Storage {
  /** Folder of all files, and of the database if that is SQLite's. */
  readonly dataDir: string;
  /** Address of a database on a PostgreSQL server; undefined: `sluice.db` in the data folder. */
  readonly database?: string;
}

/** The database of these settings. */
export function openDatabase({ dataDir, database }: Storage, log: Logger): DatabaseHandle {
  return database === undefined ? new Database(databaseOf(dataDir), log) : new PostgresDatabase(database, log);
}

/** A database that is there, by a name without secrets; what keeps it from being used, if anything does; whether it is a file in use. Changes nothing. */
export async function examineDatabase({
  dataDir,
  database,
}: Storage): Promise<
  { readonly name: string; readonly reason: string | undefined; readonly isInUse: boolean } | undefined
> {
  if (database !== undefined) {
    const { host, pathname } = new URL(database);
    const { whyUnusable } = await import('./postgres/examine.ts');
    return { name: `${decoded(pathname.slice(1))} on ${host}`, reason: await whyUnusable(database), isInUse: false };
  }
  const file = databaseOf(dataDir);
  if (!existsSync(file)) return undefined;
  const { whyUnusable } = await import('./sqlite/examine.ts');
  const { isFolderInUse } = await import('./sqlite/only-one.ts');
  return { name: file, reason: whyUnusable(file), isInUse: isFolderInUse(file) };
}

/**
 * Everything that is kept, in a database and below `files/` of the data folder. Returns at once and opens in the background;
 * the first use waits. A store that cannot be opened fails its requests, tells in `problem`, and tries again.
 */
export function openStores(
  storage: Storage,
  log: Logger,
  mostResponses: () => number = () => MOST_RESPONSES,
  database: DatabaseHandle = openDatabase(storage, log),
): Stores {
  const files = new DiskFiles(path.join(storage.dataDir, 'files'), log);
  const isOnServer = storage.database !== undefined;
  const dialect = isOnServer ? postgres : sqlite;
  return {
    chats: new SqlRecords<ChatRecord>(database, dialect, 'chats'),
    buckets: new SqlRecords<BucketRecord>(database, dialect, 'buckets'),
    caches: new SqlRecords<CacheRecord>(database, dialect, 'caches', {
      expires: (record) => record.expires,
      most: () => MOST_CACHES,
    }),
    responses: new SqlRecords<ResponseRecord>(database, dialect, 'responses', {
      expires: (record) => record.expires,
      most: mostResponses,
    }),
    conversations: new SqlConversations(database, dialect),
    uploads: new SqlUploads(database),
    memory: isOnServer ? new PostgresMemory(database) : new SqliteMemory(database),
    usage: new SqlUsage(database, dialect),
    log: new SqlLog(database),
    files,
    get problem() {
      return database.problem ?? files.problem;
    },
    recover() {
      database.recover();
      return files.recover();
    },
    async close() {
      await Promise.all([database.close(), files.close()]);
    },
  };
}
