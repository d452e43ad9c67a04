import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Logger } from '../core/logger.ts';
import type { BucketRecord, CacheRecord, ChatRecord, ResponseRecord, Stores } from '../core/stores.ts';
import { DiskFiles } from './disk/files.ts';
import { SqliteConversations } from './sqlite/conversations.ts';
import { Database } from './sqlite/database.ts';
import { SqliteLog } from './sqlite/log.ts';
import { SqliteMemory } from './sqlite/memory.ts';
import type { DatabaseHandle } from './sqlite/protocol.ts';
import { SqliteRecords } from './sqlite/records.ts';
import { SqliteUploads } from './sqlite/uploads.ts';
import { SqliteUsage } from './sqlite/usage.ts';

/** Cached answers and searches that are kept; those that expire first go first. */
const MOST_CACHES = 10_000;
/** Answers of the Responses API, where nobody sets another limit. */
const MOST_RESPONSES = 10_000;

const databaseOf = (dataDir: string): string => path.join(dataDir, 'sluice.db');

/** The database of a data folder: `sluice.db`. */
export function openDatabase(dataDir: string, log: Logger): DatabaseHandle {
  return new Database(databaseOf(dataDir), log);
}

/** The database of a data folder, and what keeps it from being used, if there is one and anything does. Changes nothing. */
export async function databaseTrouble(dataDir: string): Promise<{ file: string; reason: string } | undefined> {
  const file = databaseOf(dataDir);
  if (!existsSync(file)) return undefined;
  const { whyUnusable } = await import('./sqlite/examine.ts');
  const reason = whyUnusable(file);
  return reason === undefined ? undefined : { file, reason };
}

/**
 * Everything that is kept, below the data folder: `sluice.db` and `files/`. Returns at once and opens in the background;
 * the first use waits. A store that cannot be opened fails its requests, tells in `problem`, and tries again.
 */
export function openStores(
  dataDir: string,
  log: Logger,
  mostResponses: () => number = () => MOST_RESPONSES,
  database: DatabaseHandle = openDatabase(dataDir, log),
): Stores {
  const files = new DiskFiles(path.join(dataDir, 'files'), log);
  return {
    chats: new SqliteRecords<ChatRecord>(database, 'chats'),
    buckets: new SqliteRecords<BucketRecord>(database, 'buckets'),
    caches: new SqliteRecords<CacheRecord>(database, 'caches', {
      expires: (record) => record.expires,
      most: () => MOST_CACHES,
    }),
    responses: new SqliteRecords<ResponseRecord>(database, 'responses', {
      expires: (record) => record.expires,
      most: mostResponses,
    }),
    conversations: new SqliteConversations(database),
    uploads: new SqliteUploads(database),
    memory: new SqliteMemory(database),
    usage: new SqliteUsage(database),
    log: new SqliteLog(database),
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
