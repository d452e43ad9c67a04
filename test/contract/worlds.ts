import type { TestContext } from 'node:test';
import type { Stores } from '../../src/core/stores.ts';
import { openStores } from '../../src/stores/index.ts';
import { testLogger } from '../support/call.ts';
import { temporaryFolder } from '../support/config-folder.ts';

/** An empty store for one test, closed after it. */
export interface World<T> {
  readonly store: T;
  /** Closes it and opens what was kept. */
  readonly reopen: () => Promise<T>;
  /** A second handle on the same data, as another process has it. */
  readonly another: () => Promise<T>;
}

export type Open<T> = (context: TestContext) => Promise<World<T>>;

/** All implementations. Another store backend is one more line, and every suite runs against it. */
export const WORLDS: readonly (readonly [name: string, open: Open<Stores>])[] = [['sqlite and disk', openOnDisk]];

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

async function openOnDisk(context: TestContext): Promise<World<Stores>> {
  const opened: Stores[] = [];
  const open = async () => {
    const stores = openStores(folder, testLogger());
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
