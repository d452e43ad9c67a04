import type { Client } from 'pg';
import { Unusable } from '../failure.ts';

const ANSWER_MS = 5_000;
const LOOKS = 3;

/**
 * Throws `Unusable` where a pooler gives connections of ours to others after each transaction: settings would be lost, and got by
 * whoever has the connection next. On connections without any, so that none are left behind there.
 */
export async function refuseSharing(url: string): Promise<void> {
  const one = await connect(url);
  try {
    // A pooler has numbers of its own for what it takes for connections.
    if ((await processOf(one)) !== Number(Reflect.get(one, 'processID'))) await compare(one, url);
  } finally {
    await one.end().catch(() => {});
  }
}

/** Two connections that are left to us are two processes of the server, and stay with them. */
async function compare(one: Client, url: string): Promise<void> {
  const other = await connect(url);
  try {
    const seen: number[] = [];
    for (let look = 0; look < LOOKS; look += 1) seen.push(await processOf(one), await processOf(other));
    const [first, second] = seen;
    if (first === second || seen.some((each, at) => each !== (at % 2 === 0 ? first : second)))
      throw new Unusable(
        'A pooler gives connections to others after each transaction: let it leave them to one node (PgBouncer: pool_mode = session).',
        `processes of the server: ${seen.join(', ')}`,
      );
  } finally {
    await other.end().catch(() => {});
  }
}

async function connect(url: string): Promise<Client> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: url,
    application_name: 'sluice',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Which of its processes the server answers with. */
async function processOf(client: Client): Promise<number> {
  const { rows } = await client.query('select pg_backend_pid() as process');
  return Number(rows[0]?.process);
}
