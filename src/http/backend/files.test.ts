import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { testLogger } from '../../../test/support/call.ts';
import { temporaryFolder } from '../../../test/support/config-folder.ts';
import { openDatabase, openStores } from '../../stores/index.ts';
import type { DatabaseHandle } from '../../stores/sql/handle.ts';
import type { Deps } from '../deps.ts';
import { deleteFiles } from './files.ts';

test('a chat that somebody else shares while a bucket of the same id is deleted stays', async (context) => {
  context.after(() => stores.close());
  const folder = temporaryFolder(context);
  const database = openDatabase({ dataDir: folder }, testLogger());
  let meanwhile = (): Promise<void> => Promise.resolve();
  // Whatever was looked up is no longer so once it is told.
  const late: DatabaseHandle = {
    problem: undefined,
    read: async (...statements) => {
      const results = await database.read(...statements);
      await meanwhile();
      return results;
    },
    write: (...statements) => database.write(...statements),
    recover: () => database.recover(),
    close: () => database.close(),
  };
  const stores = openStores({ dataDir: folder }, testLogger(), undefined, late);
  const others = { id: 'same', owner: 'somebody else', updated: 1, body: { said: 'Hi' } };
  meanwhile = () => {
    meanwhile = () => Promise.resolve();
    return stores.chats.put(others);
  };
  const deps = { stores, buckets: { delete: async () => true }, config: () => ({}) } as unknown as Deps;
  const request = { params: { id: 'same' }, headers: {} } as unknown as FastifyRequest;
  await deleteFiles(deps)(request, {} as FastifyReply);
  assert.deepEqual(await stores.chats.get('same'), others);
});
