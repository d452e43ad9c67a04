import type { ClientConfig } from 'pg';
import { inWords, Unusable } from '../failure.ts';
import { failureOf } from './failures.ts';
import { refuseNewer, SCHEMA } from './migrations.ts';
import { refuseSharing } from './pooler.ts';
import { checkServer } from './server.ts';

const ANSWER_MS = 5_000;

/** What keeps a database from being used, in a sentence, with the server's or the network's own words; undefined: nothing. Changes nothing. */
export async function whyUnusable(url: string): Promise<string | undefined> {
  const { default: pg } = await import('pg');
  const settings: ClientConfig = { connectionString: url, application_name: 'sluice doctor' };
  const client = new pg.Client({ ...settings, connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS });
  client.on('error', () => {});
  try {
    await refuseSharing(url);
    await client.connect();
    await checkServer(client);
    const { rows } = await client.query(
      `select to_regclass('${SCHEMA}.schema_versions') is not null as used, pg_is_in_recovery() as follows,
         has_database_privilege(current_database(), 'create') as "mayCreate"`,
    );
    const { used, follows, mayCreate } = rows[0] ?? {};
    if (follows === true)
      throw new Unusable('The database server takes no writes: it follows another one.', 'recovery');
    if (used === true) await refuseNewer(client);
    else if (mayCreate !== true)
      throw new Unusable('The user may not make tables in that database: let it own the database.', 'privileges');
    return undefined;
  } catch (error) {
    return inWords(error, failureOf(error));
  } finally {
    await client.end().catch(() => {});
  }
}
