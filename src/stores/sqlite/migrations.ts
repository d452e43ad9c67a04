import type { DatabaseSync } from 'node:sqlite';
import { Unusable } from '../failure.ts';
import { ownerWord, spaced } from '../words.ts';

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

/** What has ever been done to the database, in order. A released one is never changed; a new one is added below it. */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'begin',
    sql: `
      -- Values of every kind behind the port Records. 'version' changes with each write and never comes back.
      create table records (
        number integer primary key,
        kind text not null,
        id text not null,
        version text not null,
        expires real,
        body text not null,
        unique (kind, id)
      );
      create index records_expiring on records (kind, expires) where expires is not null;

      create table memory (
        number integer primary key autoincrement,
        user_id text not null,
        id text not null,
        role text not null,
        text text not null,
        conversation_id text,
        metadata text not null,
        created_at real not null,
        updated_at real not null,
        unique (user_id, id)
      );
      create index memory_newest on memory (user_id, created_at desc, number desc);
      -- Words of 'memory', by its number. 'owner' is a word that stands for the user, so that a search reads only the
      -- user's own entries of the index. Words are kept here only, not the text a second time.
      create virtual table memory_words using fts5 (
        owner, text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
      );

      create table usage_records (
        number integer primary key,
        id text not null unique,
        day text not null,
        time real not null,
        body text not null
      );
      create index usage_of_day on usage_records (day, time, number);
      -- The last record that is part of the sums; one row.
      create table usage_mark (last integer not null);
      insert into usage_mark values (0);
      -- real: sums of what clients report may leave the range of integers, and must not fail then.
      create table usage_sums (
        day text not null,
        user text not null,
        provider text not null,
        model text not null,
        requests real not null,
        prompt_tokens real not null,
        completion_tokens real not null,
        total_tokens real not null,
        saved_tokens real not null,
        primary key (day, user, provider, model)
      ) without rowid;

      create table log (
        number integer primary key autoincrement,
        id text not null unique,
        time real not null,
        body text not null
      );
      create index log_newest on log (time desc, number desc);
    `,
  },
  {
    version: 2,
    name: 'usage in batches',
    sql: `
      -- 'records' is a list in JSON of what was noted together, 'first' the time of the oldest of them.
      create table usage_batches (
        number integer primary key,
        id text not null unique,
        day text not null,
        first real not null,
        records text not null
      );
      create index usage_batches_of_day on usage_batches (day, first, number);
      -- Record by record, since a 'group by' would put all of them in order first, in memory.
      insert into usage_batches (id, day, first, records)
      select 'of version 1: ' || day || ' ' || part, day,
        (select min(time) from usage_records
          where number between part * 500 and part * 500 + 499 and day = parts.day),
        (select json_group_array(json(body)) from usage_records
          where number between part * 500 and part * 500 + 499 and day = parts.day)
      from (select distinct day, number / 500 as part from usage_records) as parts;
      drop table usage_records;
      drop table usage_mark;
    `,
  },
  {
    version: 3,
    name: 'words that can be taken out',
    sql: `
      -- Only an index that knows its texts can take the words of one out again; else they stand in it until it is merged.
      drop table memory_words;
      create virtual table memory_words using fts5 (owner, text, tokenize = 'unicode61 remove_diacritics 2');
      insert into memory_words (memory_words, rank) values ('secure-delete', 1);
      insert into memory_words (rowid, owner, text) select number, owner_word(user_id), spaced(text) from memory;
    `,
  },
  {
    version: 4,
    name: 'conversations',
    sql: `
      create table conversations (
        number integer primary key autoincrement,
        id text not null unique,
        owner text,
        created_at real not null,
        metadata text not null
      );
      -- 'conversation' is the number of one. Items stand in the order of their own numbers.
      create table conversation_items (
        number integer primary key autoincrement,
        conversation integer not null,
        id text not null,
        body text not null,
        unique (conversation, id)
      );
      create index conversation_items_in_order on conversation_items (conversation, number);
    `,
  },
  {
    version: 5,
    name: 'uploads',
    sql: `
      create table uploads (
        number integer primary key autoincrement,
        id text not null unique,
        owner text,
        name text not null,
        mime_type text not null,
        purpose text not null,
        size real not null,
        created_at real not null,
        expires real,
        path text not null
      );
      create index uploads_expiring on uploads (expires) where expires is not null;
    `,
  },
];

/**
 * Brings the database to the present form, each step in its own transaction. Two processes may do this at once: each
 * looks again once it may write.
 */
export function migrate(database: DatabaseSync, migrations: readonly Migration[] = MIGRATIONS): void {
  database.exec(
    'create table if not exists schema_versions (version integer primary key, name text not null, applied_at text not null)',
  );
  database.function('owner_word', (userId) => ownerWord(String(userId)));
  database.function('spaced', (text) => spaced(String(text)));
  let present = refuseNewer(database, migrations);
  for (const { version, name, sql } of migrations) {
    if (version <= present) continue;
    database.exec('begin immediate');
    try {
      present = versionOf(database);
      if (version > present) {
        database.exec(sql);
        database
          .prepare('insert into schema_versions (version, name, applied_at) values (?, ?, ?)')
          .run(version, name, new Date().toISOString());
      }
      database.exec('commit');
    } catch (error) {
      if (database.isTransaction) database.exec('rollback');
      throw error;
    }
  }
}

/** Returns the version of a database that has one. Throws when a newer Sluice wrote it. */
export function refuseNewer(database: DatabaseSync, migrations: readonly Migration[] = MIGRATIONS): number {
  const newest = migrations.at(-1)?.version ?? 0;
  const present = versionOf(database);
  if (present > newest) {
    throw new Unusable(
      'The database was written by a newer version of Sluice; update Sluice, or choose another data folder.',
      `the database has version ${present}, this program knows ${newest}`,
    );
  }
  return present;
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('select max(version) as version from schema_versions').get()?.['version'] ?? 0);
}
