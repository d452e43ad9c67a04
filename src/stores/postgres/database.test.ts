import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import pg from 'pg';
import { testLogger } from '../../../test/support/call.ts';
import { temporaryFolder } from '../../../test/support/config-folder.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { noPostgres, PostgresServer } from '../../../test/support/postgres-server.ts';
import { rawServer } from '../../../test/support/raw-upstream.ts';
import { type TcpRelay, tcpRelay } from '../../../test/support/tcp-relay.ts';
import type { Stores } from '../../core/stores.ts';
import { UsageBatch } from '../../core/usage-batch.ts';
import { openStores } from '../index.ts';

const TODAY = '2026-03-01';
const NOON = Date.parse(`${TODAY}T12:00:00Z`);

describe('a database on a PostgreSQL server', { skip: noPostgres ?? false, timeout: 120_000 }, () => {
  let server: PostgresServer;
  const stops: (() => unknown)[] = [];
  before(async () => {
    server = await PostgresServer.start({ after: (stop) => void stops.push(stop) });
  });
  after(async () => {
    for (const stop of stops) await stop();
  });

  async function open(context: TestContext, count: number, settings = ''): Promise<readonly Stores[]> {
    const database = await server.newDatabase(settings);
    // Hooks run in this order, and the folder must not go before the stores are closed.
    const opened: Stores[] = [];
    context.after(() => Promise.all(opened.map((stores) => stores.close())));
    const dataDir = temporaryFolder(context);
    for (let n = 0; n < count; n += 1) opened.push(openStores({ dataDir, database }, testLogger()));
    return opened;
  }
  function openOn(context: TestContext, database: string): Stores {
    // Hooks run in this order, and the folder must not go before the stores are closed.
    context.after(() => stores.close());
    const stores = openStores({ dataDir: temporaryFolder(context), database }, testLogger());
    return stores;
  }
  async function openBehindRelay(context: TestContext): Promise<{ stores: Stores; relay: TcpRelay }> {
    const database = new URL(await server.newDatabase());
    const relay = await tcpRelay(context, Number(database.port));
    database.port = `${relay.port}`;
    return { stores: openOn(context, database.href), relay };
  }
  /** Asks while somebody else has the table, ends the connection on which this waits, and gives the table free. */
  async function endedWhileLocked<T>(database: string, table: string, ask: () => Promise<T>): Promise<T> {
    const waiting = "from pg_stat_activity where application_name = 'sluice' and wait_event_type = 'Lock'";
    const other = new pg.Client({ connectionString: database });
    await other.connect();
    await other.query(`begin; lock table sluice.${table} in access exclusive mode`);
    const asked = ask();
    asked.catch(() => {});
    try {
      await eventually('it waits', async () => (await server.ask(`select 1 ${waiting}`)).length === 1);
      await server.ask(`select pg_terminate_backend(pid) ${waiting}`);
    } finally {
      await other.end();
    }
    return await asked;
  }
  const usage = (model: string, user = 'u') =>
    ({
      time: NOON,
      user,
      provider: 'p',
      model,
      promptTokens: 1,
      completionTokens: 1,
      totalTokens: 2,
      savedTokens: 0,
      more: {},
    }) as const;

  test('takes what PostgreSQL has no room for: NUL and halves of characters become replacement characters', async (context) => {
    const [stores] = await open(context, 1);
    const text = 'a\0b \ud800 c';
    const item = { id: 'a', userId: 'u', role: text, text, conversationId: text, metadata: { [text]: text } };
    await stores?.memory.add([{ ...item, createdAt: 1, updatedAt: 1 }]);
    const found = await stores?.memory.find('u', { metadata: { [text]: text }, offset: 0, limit: 10 });
    const kept = 'a\ufffdb \ufffd c';
    assert.deepEqual(
      found?.items.map(({ role, text, conversationId }) => [role, text, conversationId]),
      [[kept, kept, kept]],
    );
    await stores?.usage.add(UsageBatch.of(usage(text, text)));
    const { users, models } = (await stores?.usage.stats({ today: TODAY, days: 1 })) ?? {};
    assert.deepEqual(
      [users, models].map((list) => list?.map(({ name }) => name)),
      [[kept], [kept]],
    );
    await stores?.chats.put({ id: 'a', owner: null, updated: 0, body: text });
    assert.equal((await stores?.chats.get('a'))?.body, text);
  });

  test('counts the same names of two nodes, in whichever order each of them met them', async (context) => {
    const handles = await open(context, 2);
    const models = Array.from({ length: 20 }, (_, n) => `model ${n}`);
    await Promise.all(
      Array.from({ length: 200 }, (_, n) => {
        const batch = new UsageBatch(TODAY);
        for (const model of n % 2 === 0 ? models : models.toReversed()) batch.add(usage(model));
        return handles[n % 2]?.usage.add(batch);
      }),
    );
    const stats = await handles[0]?.usage.stats({ today: TODAY, days: 1 });
    assert.equal(stats?.totals.requests, 4_000);
    assert.deepEqual(new Set(stats?.models.map(({ totalTokens }) => totalTokens)), new Set([400]));
  });

  test('goes on after connections of it were ended by somebody else', async (context) => {
    const [stores] = await open(context, 1);
    await stores?.chats.put({ id: 'a', owner: null, updated: 0, body: 'text' });
    await server.ask("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice'");
    await server.ask('select pg_sleep(0.05)');
    const seen = await Promise.allSettled(Array.from({ length: 20 }, () => stores?.chats.get('a')));
    assert.ok(seen.some(({ status }) => status === 'fulfilled'));
    assert.equal((await stores?.chats.get('a'))?.body, 'text');
  });

  test('reads again what it had asked on a connection that was ended; whether it had written nobody knows', async (context) => {
    const database = await server.newDatabase();
    const stores = openOn(context, database);
    await stores.chats.put({ id: 'a', owner: null, updated: 0, body: 'text' });
    const read = await endedWhileLocked(database, 'records', async () => await stores.chats.get('a'));
    assert.equal(read?.body, 'text');
    await assert.rejects(
      endedWhileLocked(database, 'memory', async () => await stores.memory.delete('u')),
      /The database server stops, or does not answer in time/,
    );
  });

  test('reads on a new connection where all that it has have broken unseen, and writes nothing twice', async (context) => {
    const { stores, relay } = await openBehindRelay(context);
    const read = async () => await Promise.all(Array.from({ length: 20 }, async () => await stores.chats.get('a')));
    await stores.chats.put({ id: 'a', owner: null, updated: 0, body: 'text' });
    await read();
    relay.forget();
    assert.deepEqual(new Set((await read()).map((record) => record?.body)), new Set(['text']));
    relay.forget();
    await assert.rejects(
      async () => await stores.chats.put({ id: 'b', owner: null, updated: 0, body: '' }),
      /The database server cannot be reached/,
    );
    assert.equal(await stores.chats.get('b'), undefined);
  });

  test('that is gone is waited for once: whoever waits for a connection is told with the first one', async (context) => {
    const { stores, relay } = await openBehindRelay(context);
    await stores.chats.get('a');
    relay.forget();
    relay.fallSilent();
    const before = relay.count;
    const seen = await Promise.allSettled(Array.from({ length: 24 }, async () => await stores.chats.get('a')));
    for (const each of seen) assert.match(`${each.status === 'rejected' && each.reason}`, /cannot be reached/);
    assert.equal(relay.count - before, 8, 'as many as may connect at once');
  });

  test('that takes connections and says nothing is told, and waited for by nobody for ever', async (context) => {
    const { origin } = await rawServer(context, () => {});
    const database = `postgres://a:b@${new URL(origin).host}/c`;
    const stores = openStores({ dataDir: temporaryFolder(context), database }, testLogger());
    const asked = [stores.chats.get('a'), stores.chats.put({ id: 'a', owner: null, updated: 0, body: '' })];
    for (const each of asked) await assert.rejects(each, /The database server cannot be reached/);
    await stores.close();
  });

  test('whose tables a newer version has changed is used by whoever has it open, and opened by nobody any more', async (context) => {
    const database = await server.newDatabase();
    const running = openOn(context, database);
    await running.chats.put({ id: 'a', owner: null, updated: 0, body: 'text' });
    await server.ask(
      "insert into sluice.schema_versions (version, name, applied_at) values (1000000, 'future', '')",
      new URL(database).pathname.slice(1),
    );
    const starting = openOn(context, database);
    await assert.rejects(async () => await starting.chats.get('a'), /written by a newer version of Sluice/);
    assert.equal((await running.chats.get('a'))?.body, 'text');
  });

  test('that is not in UTF-8 is told', async (context) => {
    const [stores] = await open(context, 1, "encoding 'LATIN1' template template0 locale 'C'");
    await assert.rejects(async () => await stores?.chats.get('a'), /The database is not in UTF-8/);
    assert.match(stores?.problem ?? '', /not in UTF-8/);
  });
});
