import { toFailure } from '../../api/http.ts';
import { toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { type Chat, type Failure, newId } from '../../state/model.ts';
import { runningIn } from '../../state/streams.ts';
import { type MessageMap, pathTo } from '../../state/tree.ts';
import { loadMessages } from '../../storage/keep.ts';
import { localNames, removeLocal, writeLocal } from '../../storage/local.ts';
import { reasonOf } from '../chat/advice.ts';
import { publish, unpublish } from './api.ts';
import { toShared } from './shared-chat.ts';

/** Between two versions of a chat that is being written. Readers look every five seconds. */
const PACE_MS = 1_500;
/** Until the next attempt when the server does not answer, or cannot take it now. */
const AGAIN_MS = 10_000;
/** A deleted chat can be brought back for ten seconds; its share waits for that. */
const REGRET_MS = 11_000;
/** Chats whose share has not got all yet, each under a name of its own: the page may go before, and the next one makes up for it. */
const BEHIND = 'behind.';

/** What was last seen of a shared chat. */
interface Seen {
  readonly share: string;
  readonly title: string;
  readonly leaf: string | undefined;
  readonly messages: MessageMap | undefined;
}

const seen = new Map<string, Seen>();
const timers = new Map<string, ReturnType<typeof setTimeout>>();
/** Shares of chats that are gone, and when that is final. */
const leaving = new Map<string, ReturnType<typeof setTimeout>>();
/** Those that can no longer be written: it was said once. */
const given = new Set<string>();
let isKeeping = false;

/** From now on shared chats are brought up to date as they change in this tab. */
export function keepShares(): void {
  if (isKeeping) return;
  isKeeping = true;
  let byId: unknown;
  let shared: readonly Chat[] = [];
  const look = (): void => {
    const { chats, messages } = app.get();
    if (chats.byId !== byId) {
      byId = chats.byId;
      shared = Object.values(chats.byId).filter(({ share }) => share !== undefined);
      lookForDeleted(chats.byId);
    }
    for (const chat of shared) lookAt(chat, messages[chat.id]);
  };
  look();
  for (const name of localNames(BEHIND)) void bringUpToDate(name.slice(BEHIND.length));
  app.subscribe(look);
  addEventListener('pagehide', () => {
    for (const share of leaving.keys()) unpublish(share).catch(() => {});
  });
}

function lookAt(chat: Chat, messages: MessageMap | undefined): void {
  const { id, share = '', title, leaf } = chat;
  const before = seen.get(id);
  if (before?.share === share && before.title === title && before.leaf === leaf && before.messages === messages) return;
  seen.set(id, { share, title, leaf, messages });
  clearTimeout(leaving.get(share));
  leaving.delete(share);
  // A chat that is only opened is no other than the one that was shared.
  const isNews = before !== undefined && (before.messages !== undefined || before.title !== title);
  if (!isNews || before.share !== share || given.has(share) || timers.has(id)) return;
  writeLocal(BEHIND + id, true);
  timers.set(
    id,
    setTimeout(() => sendAgain(id), PACE_MS),
  );
}

function lookForDeleted(byId: Readonly<Record<string, Chat>>): void {
  for (const [id, { share }] of seen) {
    const chat = byId[id];
    if (chat?.share === share) continue;
    seen.delete(id);
    clearTimeout(timers.get(id));
    timers.delete(id);
    removeLocal(BEHIND + id);
    // One that is still there was unshared on purpose, and that is done already.
    if (chat !== undefined) continue;
    const end = (): void => {
      leaving.delete(share);
      unpublish(share).catch(() => {});
    };
    leaving.set(share, setTimeout(end, REGRET_MS));
  }
}

function sendAgain(id: string): void {
  timers.delete(id);
  void bringUpToDate(id);
}

async function bringUpToDate(id: string): Promise<void> {
  const chat = app.get().chats.byId[id];
  if (chat?.share === undefined) return removeLocal(BEHIND + id);
  try {
    await send(chat, chat.share);
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (isPassing(failure)) {
      timers.set(
        id,
        setTimeout(() => sendAgain(id), AGAIN_MS),
      );
    } else if (failure.status !== 409) {
      // Otherwise a newer version is there: that of another tab.
      given.add(chat.share);
      toast(t('share.notUpdated', { title: chat.title, reason: reasonOf(failure) }));
    }
  }
  if (!timers.has(id)) removeLocal(BEHIND + id);
}

/** Whether the server may take it later: it was not reached, is about to stop, or has too much to do. */
function isPassing({ code, status = 0 }: Failure): boolean {
  return code === 'unreachable' || status === 429 || status === 503;
}

async function send(chat: Chat, share: string): Promise<void> {
  const messages = await loadMessages(chat.id);
  const isRunning = runningIn(app.get().streams, chat.id) !== undefined;
  await publish(toShared(chat, share, pathTo(messages, chat.leaf), isRunning, Date.now()));
}

/** Makes a link to a chat; returns the share's id. */
export async function shareChat(id: string): Promise<string | undefined> {
  const chat = app.get().chats.byId[id];
  if (chat === undefined) return undefined;
  const share = newId();
  await send(chat, share);
  app.dispatch({ type: 'chats/changed', id, change: { share } });
  keepShares();
  return share;
}

/** Ends the sharing of a chat; its link leads nowhere from then on. */
export async function unshareChat(id: string): Promise<void> {
  const chat = app.get().chats.byId[id];
  if (chat?.share === undefined) return;
  await unpublish(chat.share);
  const now = app.get().chats.byId[id];
  if (now === undefined) return;
  const { share: _, ...rest } = now;
  app.dispatch({ type: 'chats/put', chats: [rest] });
}

/** Ends the sharing of all chats, as far as the server can be reached. */
export async function unshareAll(): Promise<void> {
  const shared = Object.values(app.get().chats.byId).filter(({ share }) => share !== undefined);
  await Promise.allSettled(shared.map(({ id }) => unshareChat(id)));
}
