import type { ClientBase } from 'pg';
import { Unusable } from '../failure.ts';

/** Everything of ours is in here, so that it may share a database with others. */
export const SCHEMA = 'sluice';
/** Any number that is the same for all: who changes the tables holds the lock of this name. */
const LOCK = 7_583_261;

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

/**
 * What has ever been done to the database, in order. A released one is never changed; a new one is added below it. Ids and
 * dates are compared byte by byte, hence the collation.
 */
const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'begin',
    sql: `
      -- Values of every kind behind the port Records. 'version' changes with each write and never comes back.
      create table records (
        number bigint generated always as identity primary key,
        kind text collate "C" not null,
        id text collate "C" not null,
        version text not null,
        expires double precision,
        body text not null,
        unique (kind, id)
      );
      create index records_expiring on records (kind, expires) where expires is not null;

      create table memory (
        number bigint generated always as identity primary key,
        user_id text collate "C" not null,
        id text collate "C" not null,
        role text not null,
        text text not null,
        conversation_id text,
        metadata text not null,
        -- Members of the metadata, a line of JSON each (memory.ts).
        members text not null,
        created_at double precision not null,
        updated_at double precision not null,
        -- What a search finds the text by (words.ts).
        words tsvector not null,
        unique (user_id, id)
      );
      create index memory_newest on memory (user_id, created_at desc, number desc);

      -- 'records' is a list in JSON of what was noted together, 'first' the time of the oldest of them.
      create table usage_batches (
        number bigint generated always as identity primary key,
        id text collate "C" not null unique,
        day text collate "C" not null,
        first double precision not null,
        records text not null
      );
      create index usage_batches_of_day on usage_batches (day, first, number);
      create table usage_sums (
        day text collate "C" not null,
        "user" text collate "C" not null,
        provider text collate "C" not null,
        model text collate "C" not null,
        requests double precision not null,
        prompt_tokens double precision not null,
        completion_tokens double precision not null,
        total_tokens double precision not null,
        saved_tokens double precision not null,
        primary key (day, "user", provider, model)
      );

      create table log (
        number bigint generated always as identity primary key,
        id text collate "C" not null unique,
        time double precision not null,
        body text not null
      );
      create index log_newest on log (time desc, number desc);

      create table conversations (
        number bigint generated always as identity primary key,
        id text collate "C" not null unique,
        owner text,
        created_at double precision not null,
        metadata text not null
      );
      -- 'conversation' is the number of one. Items stand in the order of their own numbers.
      create table conversation_items (
        number bigint generated always as identity primary key,
        conversation bigint not null,
        id text collate "C" not null,
        body text not null,
        unique (conversation, id)
      );
      create index conversation_items_in_order on conversation_items (conversation, number);

      create table uploads (
        number bigint generated always as identity primary key,
        id text collate "C" not null unique,
        owner text,
        name text not null,
        mime_type text not null,
        purpose text not null,
        size double precision not null,
        created_at double precision not null,
        expires double precision,
        path text not null
      );
      create index uploads_expiring on uploads (expires) where expires is not null;
    `,
  },
];

/** Brings the database to the present form, all of it or nothing. Nodes that start at once do it one after the other. */
export async function migrate(client: ClientBase): Promise<void> {
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(`create schema if not exists ${SCHEMA}`);
    await client.query(
      'create table if not exists schema_versions (version integer primary key, name text not null, applied_at text not null)',
    );
    const present = await refuseNewer(client);
    for (const { version, name, sql } of MIGRATIONS.filter((each) => each.version > present)) {
      await client.query(sql);
      await client.query('insert into schema_versions (version, name, applied_at) values ($1, $2, $3)', [
        version,
        name,
        new Date().toISOString(),
      ]);
    }
    await client.query('commit');
  } catch (error) {
    // Where the connection is gone, so is what was begun on it.
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Returns the version of a database that has one. Throws when a newer Sluice wrote it. */
export async function refuseNewer(client: ClientBase): Promise<number> {
  const { rows } = await client.query(`select max(version) as version from ${SCHEMA}.schema_versions`);
  const present = Number(rows[0]?.version ?? 0);
  const newest = MIGRATIONS.at(-1)?.version ?? 0;
  if (present > newest) {
    throw new Unusable(
      'The database was written by a newer version of Sluice; update Sluice, or choose another database.',
      `the database has version ${present}, this program knows ${newest}`,
    );
  }
  return present;
}
