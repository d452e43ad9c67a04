import { app } from '../state/app.ts';
import { type Action, reduce, type State } from '../state/index.ts';
import type { Chat, Message } from '../state/model.ts';
import { takeSettings } from '../state/settings.ts';
import type { MessageMap } from '../state/tree.ts';
import { noteDeleted, readAll, readBy, readOne, removeLeft, removeOrphans, stopLooking, write } from './database.ts';
import { hurryDrafts, loadDrafts, type OnRefused, type Refused, takeDraft, writeDrafts } from './keep-drafts.ts';
import { readLocal, writeLocal } from './local.ts';
import { shareRunning } from './running.ts';
import { listen, tell } from './tabs.ts';

/** How long the changes of a running answer gather before they are written, in milliseconds; others are written at once. */
const GATHER_MS = 300;

/** Objects that came from the database as they are: there is nothing to write about them. */
const known = new WeakSet<object>();

type Take = (action: Action) => void;

/**
 * Takes what comes from the database, or went from it, which is nothing to write. Above all, what another tab removed is not removed
 * once more by this one, which may be late: it may have been brought back there by then.
 */
let take: Take = (action) => app.dispatch(action);

/** Reads what was kept, and from then on keeps what changes, for this tab and the others. Says once of each what is refused. */
export async function keepState(onRefused: OnRefused): Promise<void> {
  loadSettings();
  const refused = new Set<Refused>();
  const refuse = (what: Refused): void => {
    if (!refused.has(what)) onRefused(what);
    refused.add(what);
  };
  loadDrafts(refuse);
  const tellRunning = shareRunning();
  let written = app.get();
  // The state before what is on its way to the disk, which may not get there when the page goes.
  let unsure: State | undefined;
  let underway = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isGathering = false;
  const flush = async (isLeaving = false): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (isLeaving) stopLooking();
    const now = app.get();
    const before = (isLeaving ? unsure : undefined) ?? written;
    written = now;
    unsure ??= before;
    underway += 1;
    try {
      await writeDifference(before, now, isLeaving);
      // Behind it, so that nobody takes an answer for broken off whose end is still to be read.
      tellRunning();
    } catch {
      // What was refused goes with the next change.
      written = { ...written, chats: before.chats, messages: before.messages };
      refuse('chats');
    } finally {
      underway -= 1;
      if (underway === 0) unsure = undefined;
    }
  };
  app.subscribe(() => {
    const { settings, drafts, chats, messages, streams } = app.get();
    if (settings !== written.settings && !writeLocal('settings', settings)) refuse('drafts');
    if (drafts !== written.drafts) writeDrafts(written.drafts, drafts);
    if (settings !== written.settings || drafts !== written.drafts) written = { ...written, settings, drafts };
    if (chats === written.chats && messages === written.messages && streams === written.streams) return;
    // Not the begin of an answer: where to find it again must be there already when the page goes, since Safari writes nothing then.
    const canWait = Object.keys(streams).length > 0 && streams === written.streams;
    if (timer !== undefined && (canWait || !isGathering)) return;
    clearTimeout(timer);
    isGathering = canWait;
    timer = setTimeout(() => void flush(), canWait ? GATHER_MS : 0);
  });
  addEventListener('pagehide', () => {
    void flush(true);
    hurryDrafts();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') void flush();
  });
  addEventListener('storage', (event) => {
    if (event.key === 'sluice.settings') loadSettings();
    else takeDraft(event);
  });
  take = (action) => {
    written = reduce(written, action);
    if (unsure !== undefined) unsure = reduce(unsure, action);
    app.dispatch(action);
  };
  // In the order in which they came: one that has to read something must not be done after a later one.
  let taken: Promise<void> = Promise.resolve();
  listen((word) => {
    const hear = async (): Promise<void> => {
      if (word.kind === 'chats') await takeChats(word.put, word.removed);
      else if (word.kind === 'messages') await takeMessages(word.chat, word.put, word.removed);
      else if (word.kind === 'cleared') location.reload();
    };
    taken = taken.then(hear, hear);
  });
  const chats = await readAll<Chat>('chats').catch(() => {
    refuse('chats');
    return [];
  });
  for (const chat of chats) known.add(chat);
  take({ type: 'chats/loaded', chats });
  removeLeft().catch(() => {});
}

function loadSettings(): void {
  const kept = readLocal<Parameters<typeof takeSettings>[0]>('settings');
  if (kept !== undefined) app.dispatch({ type: 'settings/changed', change: takeSettings(kept) });
}

/** Chats whose messages are being read. */
const reading = new Map<string, Promise<MessageMap>>();

/** The messages of a chat, from the database the first time. */
export function loadMessages(chat: string): Promise<MessageMap> {
  const there = app.get().messages[chat];
  if (there !== undefined) return Promise.resolve(there);
  const read = reading.get(chat) ?? readMessages(chat).finally(() => reading.delete(chat));
  reading.set(chat, read);
  return read;
}

async function readMessages(chat: string): Promise<MessageMap> {
  const messages = await readBy<Message>('messages', 'chat', chat);
  for (const message of messages) known.add(message);
  // What came to be meanwhile is newer.
  const newer = app.get().messages[chat] ?? {};
  take({ type: 'messages/loaded', chat, messages: messages.filter(({ id }) => newer[id] === undefined) });
  return app.get().messages[chat] ?? {};
}

/**
 * Keeps chats that were made elsewhere, and then shows them. They come to be in one step with their messages, so that whoever
 * deletes all chats meanwhile in another tab leaves them whole or takes them whole.
 */
export async function keepWhole(chats: readonly Chat[], messages: readonly Message[]): Promise<void> {
  await write({ put: { chats, messages } });
  for (const chat of chats) known.add(chat);
  app.dispatch({ type: 'chats/put', chats });
  tell({ kind: 'chats', put: chats.map(({ id }) => id), removed: [] });
}

/**
 * Everything is put into the database's queue at once: what another, later call writes comes behind it. Chats that were kept
 * before and are gone stay gone, unless the page is leaving: it would not learn whether they are.
 */
async function writeDifference(before: State, now: State, isLeaving: boolean): Promise<void> {
  const chats = difference(before.chats.byId, now.chats.byId);
  const gone = new Set(chats.removed);
  const put: Message[] = [];
  const removed: string[] = [];
  const told: (() => void)[] = [];
  for (const chat of gone) removed.push(...Object.keys(before.messages[chat] ?? {}));
  for (const [chat, messages] of Object.entries(now.messages)) {
    const old = before.messages[chat];
    if (old === messages || gone.has(chat)) continue;
    const changes = difference(old ?? {}, messages);
    put.push(...changes.put);
    removed.push(...changes.removed);
    if (changes.put.length + changes.removed.length > 0) {
      const ids = changes.put.map(({ id }) => id);
      told.push(() => tell({ kind: 'messages', chat, put: ids, removed: changes.removed }));
    }
  }
  if (chats.put.length + chats.removed.length > 0) {
    told.push(() => tell({ kind: 'chats', put: chats.put.map(({ id }) => id), removed: chats.removed }));
  }
  if (told.length === 0) return;
  const touched = new Set([...chats.put.map(({ id }) => id), ...put.map(({ chat }) => chat)]);
  await write({
    put: { chats: chats.put, messages: put, ...noteDeleted(chats.removed) },
    remove: { chats: chats.removed, messages: removed },
    unlessGone: isLeaving ? [] : [...touched].filter((id) => before.chats.byId[id] !== undefined),
  });
  for (const each of told) each();
  // Messages of which this tab did not know. Looking for them takes a while, for which nothing else waits.
  await removeOrphans(chats.removed);
}

function difference<Kept extends { readonly id: string }>(
  before: Readonly<Record<string, Kept>>,
  now: Readonly<Record<string, Kept>>,
): { readonly put: readonly Kept[]; readonly removed: readonly string[] } {
  if (before === now) return { put: [], removed: [] };
  const put = Object.values(now).filter((each) => before[each.id] !== each && !known.has(each));
  const removed = Object.keys(before).filter((id) => now[id] === undefined);
  return { put, removed };
}

async function takeChats(put: readonly string[], removed: readonly string[]): Promise<void> {
  const chats = (await Promise.all(put.map((id) => readOne<Chat>('chats', id)))).filter((chat) => chat !== undefined);
  for (const chat of chats) known.add(chat);
  if (chats.length > 0) take({ type: 'chats/put', chats });
  if (removed.length > 0) {
    take({ type: 'chats/removed', ids: removed });
    take({ type: 'messages/forgotten', chats: removed });
  }
}

/** Another tab wrote messages. Those that stream into this tab too are newer here, unless they were stopped there. */
async function takeMessages(chat: string, put: readonly string[], removed: readonly string[]): Promise<void> {
  // What is being read may be as it was before.
  await reading.get(chat)?.catch(() => {});
  if (app.get().messages[chat] === undefined) return;
  const read = await Promise.all(put.map((id) => readOne<Message>('messages', id)));
  const { streams } = app.get();
  const messages = read
    .filter((message) => message !== undefined)
    .filter(({ id, finish }) => (streams[id]?.phase ?? 'elsewhere') === 'elsewhere' || finish === 'stopped');
  for (const message of messages) known.add(message);
  if (messages.length > 0) take({ type: 'messages/loaded', chat, messages });
  if (removed.length > 0) take({ type: 'messages/removed', chat, ids: removed });
}
