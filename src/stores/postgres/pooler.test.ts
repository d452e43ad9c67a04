import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { testLogger } from '../../../test/support/call.ts';
import { temporaryFolder } from '../../../test/support/config-folder.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { noPgBouncer, PgBouncer } from '../../../test/support/pg-bouncer.ts';
import { noPostgres, PostgresServer } from '../../../test/support/postgres-server.ts';
import type { Stores } from '../../core/stores.ts';
import { openStores } from '../index.ts';
import { whyUnusable } from './examine.ts';

const REFUSAL = /A pooler gives connections to others after each transaction: .*pool_mode = session/;

describe('a database behind PgBouncer', { skip: noPostgres ?? noPgBouncer ?? false, timeout: 120_000 }, () => {
  let server: PostgresServer;
  const stops: (() => unknown)[] = [];
  before(async () => {
    server = await PostgresServer.start({ after: (stop) => void stops.push(stop) }, [
      'fsync=off',
      'synchronous_commit=off',
    ]);
  });
  after(async () => {
    for (const stop of stops) await stop();
  });

  function open(context: TestContext, database: string): Stores {
    // Hooks run in this order, and the folder must not go before the stores are closed.
    context.after(() => stores.close());
    const stores = openStores({ dataDir: temporaryFolder(context), database }, testLogger());
    return stores;
  }
  const put = (stores: Stores, id: string) => stores.chats.put({ id, owner: null, updated: 0, body: id });
  const many = (count: number) => Array.from({ length: count }, (_, n) => `chat-${n}`);

  test('that leaves connections to one node is used as the server itself is, also once it was started anew', async (context) => {
    const pooler = await PgBouncer.start(context, await server.newDatabase(), { pool_mode: 'session' });
    assert.equal(await whyUnusable(pooler.url), undefined);
    const stores = open(context, pooler.url);
    const read = async () =>
      (await Promise.all(many(50).map(async (id) => await stores.chats.get(id)))).map((chat) => chat?.id);
    await Promise.all(many(50).map((id) => put(stores, id)));
    await pooler.stop();
    await pooler.resume();
    assert.deepEqual(await read(), many(50));
    await pooler.stop();
    await assert.rejects(put(stores, 'lost'), /The database server cannot be reached/);
    await pooler.resume();
    await eventually('it is used again', () =>
      put(stores, 'late').then(
        () => true,
        () => false,
      ),
    );
    assert.deepEqual(await read(), many(50));
  });

  for (const mode of ['transaction', 'statement']) {
    test(`that gives connections to others after each ${mode} is refused, and has no settings of ours`, async (context) => {
      const database = await server.newDatabase();
      const pooler = await PgBouncer.start(context, database, { pool_mode: mode });
      assert.match((await whyUnusable(pooler.url)) ?? '', REFUSAL);
      const stores = open(context, pooler.url);
      await assert.rejects(put(stores, 'a'), REFUSAL);
      assert.match(stores.problem ?? '', REFUSAL);
      const name = new URL(database).pathname.slice(1);
      assert.deepEqual(await server.ask("select to_regnamespace('sluice') as made", name), [{ made: null }]);
    });
  }
});
