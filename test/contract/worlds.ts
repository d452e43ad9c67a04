import { after, type TestContext } from 'node:test';
import type { Stores } from '../../src/core/stores.ts';
import { openStores } from '../../src/stores/index.ts';
import { testLogger } from '../support/call.ts';
import { temporaryFolder } from '../support/config-folder.ts';
import { noPostgres, PostgresServer } from '../support/postgres-server.ts';

/** An empty store for one test, closed after it. */
export interface World<T> {
  readonly store: T;
  /** Closes it and opens what was kept. */
  readonly reopen: () => Promise<T>;
  /** A second handle on the same data, as another process has it. */
  readonly another: () => Promise<T>;
}

export type Open<T> = (context: TestContext) => Promise<World<T>>;

/** All implementations that can run here. Another store backend is one more line, and every suite runs against it. */
export const WORLDS: readonly (readonly [name: string, open: Open<Stores>])[] = [
  ['sqlite and disk', (context) => openWorld(context, {})],
  ...(noPostgres === undefined ? [['postgresql and disk', openOnServer] as const] : []),
];

/** One for all tests of the process, and so are these hooks: it ends with the last of them. */
let server: Promise<PostgresServer> | undefined;
const ended: (() => unknown)[] = [];
after(async () => {
  for (const end of ended) await end();
});

async function openOnServer(context: TestContext): Promise<World<Stores>> {
  server ??= PostgresServer.start({ after: (end) => void ended.push(end) });
  return await openWorld(context, { database: await (await server).newDatabase() });
}

/** The world of one port. */
export function port<T>(open: Open<Stores>, pick: (stores: Stores) => T): Open<T> {
  return async (context) => {
    const { store, reopen, another } = await open(context);
    return {
      store: pick(store),
      reopen: async () => pick(await reopen()),
      another: async () => pick(await another()),
    };
  };
}

async function openWorld(context: TestContext, storage: { readonly database?: string }): Promise<World<Stores>> {
  const opened: Stores[] = [];
  const open = async () => {
    const stores = openStores({ ...storage, dataDir: folder }, testLogger());
    opened.push(stores);
    return stores;
  };
  const close = () => Promise.all(opened.splice(0).map((stores) => stores.close()));
  // Hooks run in this order, and the folder must not go before the stores are closed.
  context.after(close);
  const folder = temporaryFolder(context);
  return {
    store: await open(),
    another: open,
    async reopen() {
      await close();
      return await open();
    },
  };
}
