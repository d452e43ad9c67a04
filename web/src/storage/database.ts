/**
 * The browser's database. `chats` and `messages` have the shapes of `state/model.ts`; `records` holds whatever a screen
 * keeps in many pieces (prompts, presets, …), under `kind` and `id`.
 */
export type StoreName = 'chats' | 'messages' | 'records';

const NAME = 'sluice';
const VERSION = 1;

let opening: Promise<IDBDatabase> | undefined;
let isOpen = false;

/** Whether what is to be written can be put into the database's queue at once, as a page that goes has to. */
export function takesAtOnce(): boolean {
  return isOpen;
}

/** The next time it is opened anew. */
function forget(): void {
  opening = undefined;
  isOpen = false;
}

function open(): Promise<IDBDatabase> {
  opening ??= new Promise<IDBDatabase>((resolve, reject) => {
    const asked = indexedDB.open(NAME, VERSION);
    asked.onupgradeneeded = () => {
      const database = asked.result;
      database.createObjectStore('chats', { keyPath: 'id' });
      database.createObjectStore('messages', { keyPath: 'id' }).createIndex('chat', 'chat');
      database.createObjectStore('records', { keyPath: ['kind', 'id'] }).createIndex('kind', 'kind');
    };
    asked.onsuccess = () => {
      // A newer page in another tab wants to change the database.
      asked.result.onversionchange = () => {
        asked.result.close();
        forget();
      };
      // Safari loses it in the background, and others where somebody deletes what sites keep.
      asked.result.onclose = forget;
      isOpen = true;
      resolve(asked.result);
    };
    asked.onerror = () => reject(asked.error);
    asked.onblocked = () => reject(new Error('The database is in use by an older page.'));
  }).catch((error: unknown) => {
    opening = undefined;
    throw error;
  });
  return opening;
}

function settled<Value>(asked: IDBRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
}

/** All that is in a store. */
export async function readAll<Shape>(store: StoreName): Promise<Shape[]> {
  const database = await open();
  return settled<Shape[]>(database.transaction(store).objectStore(store).getAll());
}

/** All with that value in an index: messages by `chat`, records by `kind`. */
export async function readBy<Shape>(store: StoreName, index: 'chat' | 'kind', value: string): Promise<Shape[]> {
  const database = await open();
  return settled<Shape[]>(database.transaction(store).objectStore(store).index(index).getAll(value));
}

/** At most `count` of all, in the order of their keys, after the one with key `after`. */
export async function readPage<Shape>(store: StoreName, count: number, after?: IDBValidKey): Promise<Shape[]> {
  const database = await open();
  const range = after === undefined ? null : IDBKeyRange.lowerBound(after, true);
  return settled<Shape[]>(database.transaction(store).objectStore(store).getAll(range, count));
}

/** Undefined: there is none. */
export async function readOne<Shape>(store: StoreName, key: IDBValidKey): Promise<Shape | undefined> {
  const database = await open();
  return settled<Shape | undefined>(database.transaction(store).objectStore(store).get(key));
}

/** What `write` does: values by store, and keys of what goes. */
export interface Changes {
  readonly put?: Partial<Readonly<Record<StoreName, readonly unknown[]>>>;
  readonly remove?: Partial<Readonly<Record<StoreName, readonly IDBValidKey[]>>>;
  /** Those of these chats that are not there any more, and their messages, are not put: another tab has deleted them. */
  readonly unlessGone?: readonly string[];
}

/** Those that have not written yet, since they look whether chats are there. */
const looking = new Set<IDBTransaction>();

/** Ends those that only look. When the page goes they would write nothing, and nothing could be written behind them. */
export function stopLooking(): void {
  for (const transaction of looking) transaction.abort();
  looking.clear();
}

/** All changes or none; resolves when they are on the disk. */
export async function write({ put = {}, remove = {}, unlessGone = [] }: Changes): Promise<void> {
  const stores = [...new Set([...Object.keys(put), ...Object.keys(remove)])];
  if (stores.length === 0) return;
  const database = await open();
  const transaction = database.transaction(stores, 'readwrite');
  const gone = new Set<unknown>();
  const change = (): void => {
    looking.delete(transaction);
    for (const [store, values] of Object.entries(put))
      for (const value of values) if (!gone.has(chatOf(store, value))) transaction.objectStore(store).put(value);
    for (const [store, keys] of Object.entries(remove))
      for (const key of keys) transaction.objectStore(store).delete(key);
    // A page that goes away takes along what is not committed by then.
    transaction.commit();
  };
  let left = unlessGone.length;
  if (left === 0) change();
  else looking.add(transaction);
  for (const chat of unlessGone) {
    const there = transaction.objectStore('chats').getKey(chat);
    there.onsuccess = () => {
      if (there.result === undefined) gone.add(chat);
      left -= 1;
      if (left === 0) change();
    };
  }
  return ended(transaction).finally(() => looking.delete(transaction));
}

/** The chat that something is about. */
function chatOf(store: string, value: unknown): unknown {
  const { id, chat } = value as { readonly id?: unknown; readonly chat?: unknown };
  return store === 'chats' ? id : chat;
}

/** In `records`: chats that were removed, and of which there may still be messages. */
const DELETED = 'deleted';

/** Notes, in the step that removes chats, that their messages are to be looked for: the page may go before that is done. */
export function noteDeleted(chats: readonly string[]): Changes['put'] {
  return chats.length === 0 ? {} : { records: chats.map((id) => ({ kind: DELETED, id })) };
}

/** Removes what a page has left of chats that went before it was done with them. */
export async function removeLeft(): Promise<void> {
  const left = await readBy<{ readonly id: string }>('records', 'kind', DELETED);
  await removeOrphans(left.map(({ id }) => id));
}

/**
 * Removes the messages of those of the chats that are not there. It is looked and removed in one step: another tab may bring a
 * chat back, with its messages, at any moment.
 */
export async function removeOrphans(chats: readonly string[]): Promise<void> {
  if (chats.length === 0) return;
  const database = await open();
  const transaction = database.transaction(['chats', 'messages', 'records'], 'readwrite');
  const messages = transaction.objectStore('messages');
  for (const chat of chats) {
    const done = (): void => void transaction.objectStore('records').delete([DELETED, chat]);
    const there = transaction.objectStore('chats').getKey(chat);
    there.onsuccess = () => {
      if (there.result !== undefined) return done();
      const orphans = messages.index('chat').getAllKeys(chat);
      orphans.onsuccess = () => {
        for (const key of orphans.result) messages.delete(key);
        done();
      };
    };
  }
  return ended(transaction);
}

/** Removes all messages whose chat is not there, in one step: chats come to be together with their messages. */
export async function removeAllOrphans(): Promise<void> {
  const database = await open();
  const transaction = database.transaction(['chats', 'messages'], 'readwrite');
  const messages = transaction.objectStore('messages');
  const chats = transaction.objectStore('chats').getAllKeys();
  chats.onsuccess = () => {
    const there = new Set<unknown>(chats.result);
    const all = messages.index('chat').openKeyCursor();
    all.onsuccess = () => {
      const at = all.result;
      if (at === null) return;
      if (!there.has(at.key)) messages.delete(at.primaryKey);
      at.continue();
    };
  };
  return ended(transaction);
}

/** Removes everything that was kept. */
export async function clearAll(): Promise<void> {
  const database = await open();
  const stores: StoreName[] = ['chats', 'messages', 'records'];
  const transaction = database.transaction(stores, 'readwrite');
  for (const store of stores) transaction.objectStore(store).clear();
  return ended(transaction);
}

/** Resolves when all that a transaction did is on the disk. */
function ended(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => {
      // Without an error where it was this page that ended it.
      if (transaction.error === null) resolve();
      else reject(transaction.error);
    };
  });
}
