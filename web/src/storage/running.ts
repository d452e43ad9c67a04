import { app } from '../state/app.ts';
import { newId } from '../state/model.ts';
import { ownChats, runningIn } from '../state/streams.ts';
import { listen, tell } from './tabs.ts';

/** How many answers each of the other tabs follows, by tab. */
const counts = new Map<string, number>();

/** How many answers each of the other tabs follows. */
export function countsElsewhere(): readonly number[] {
  return [...counts.values()];
}

/** Learns which answers other tabs follow. Returns the way to tell them which ones this tab does. */
export function shareRunning(): () => void {
  const tab = newId();
  let told = '{}';
  const tellRunning = (): void => {
    const chats = ownChats(app.get().streams);
    const text = JSON.stringify(chats);
    if (text === told) return;
    told = text;
    tell({ kind: 'running', tab, chats });
  };
  listen((word) => {
    if (word.kind === 'running') take(word.tab, word.chats);
    if (word.kind !== 'begun') return;
    told = '{}';
    tellRunning();
  });
  // Until this tab ends, in whatever way.
  lock(tab, 'exclusive', () => new Promise(() => {}));
  // What this tab waited for ends with it.
  addEventListener('pagehide', () => tell({ kind: 'running', tab, chats: {} }));
  tell({ kind: 'begun' });
  return tellRunning;
}

/** What a tab follows now. */
function take(tab: string, chats: Readonly<Record<string, string>>): void {
  const count = Object.keys(chats).length;
  if (count > 0) {
    counts.set(tab, count);
    watch(tab);
  } else counts.delete(tab);
  app.dispatch({ type: 'streams/told', tab, chats });
}

/**
 * Whether this tab may ask in a chat: not while another one that has asked there waits for the answer, though nothing was heard
 * of that yet. If it may, no other one may from now on, until nothing is answered there any more.
 */
export async function mayAsk(chat: string): Promise<boolean> {
  // On connections that are not safe there are no locks.
  if (asking.has(chat) || navigator.locks === undefined) return true;
  const answer = Promise.withResolvers<boolean>();
  const hold = async (held: Lock | null): Promise<void> => {
    answer.resolve(held !== null);
    if (held === null) return;
    asking.add(chat);
    // First it asks.
    await new Promise((resolve) => setTimeout(resolve));
    await over(chat);
    asking.delete(chat);
  };
  navigator.locks.request(`sluice.asking.${chat}`, { ifAvailable: true }, hold).catch(() => answer.resolve(true));
  return answer.promise;
}

/** The chats in which other tabs may not ask because of this one. */
const asking = new Set<string>();

function over(chat: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (runningIn(app.get().streams, chat) !== undefined) return;
      end();
      resolve();
    };
    const end = app.subscribe(look);
    look();
  });
}

/** Tabs whose end is waited for. */
const watched = new Set<string>();

/** One that crashes says nothing any more, but gives its lock back. */
function watch(tab: string): void {
  if (watched.has(tab)) return;
  watched.add(tab);
  lock(tab, 'shared', () => {
    watched.delete(tab);
    take(tab, {});
  });
}

/** Browsers have locks on safe connections only, and where they keep anything at all. */
function lock(tab: string, mode: LockMode, held: () => void | Promise<void>): void {
  navigator.locks?.request(`sluice.tab.${tab}`, { mode }, held).catch(() => {});
}
