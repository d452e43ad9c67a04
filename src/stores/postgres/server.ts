import type { ClientBase } from 'pg';
import { Unusable } from '../failure.ts';

/** As PostgreSQL counts: 13.0. */
const OLDEST = 130_000;

/** Throws `Unusable` where a database is none that Sluice can use. */
export async function checkServer(client: ClientBase): Promise<void> {
  const { rows } = await client.query(
    "select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding",
  );
  const { version, encoding } = rows[0] ?? {};
  if (Number(version) < OLDEST)
    throw new Unusable('The database server is older than PostgreSQL 13.', `version ${version}`);
  if (encoding !== 'UTF8')
    throw new Unusable('The database is not in UTF-8: make one with "encoding UTF8".', `encoding ${encoding}`);
}
