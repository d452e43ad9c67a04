import { DiskFiles } from '../../src/stores/disk/files.ts';
import { openStores } from '../../src/stores/index.ts';
import { testLogger } from './call.ts';
import { temporaryFolder } from './config-folder.ts';

interface Context {
  after(done: () => unknown): void;
}

/** Empty stores in a folder that is removed after the test. */
export function temporaryStores(context: Context): ReturnType<typeof openStores> {
  // Hooks run in this order, and the folder must not go before the stores are closed.
  context.after(() => stores.close());
  const stores = openStores({ dataDir: temporaryFolder(context) }, testLogger());
  return stores;
}

/** The same for files alone. */
export function temporaryFiles(context: Context): DiskFiles {
  return new DiskFiles(temporaryFolder(context), testLogger());
}
