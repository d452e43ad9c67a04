import { app } from '../state/app.ts';
import { type Draft, type DraftsState, isOfForm, keepable } from '../state/drafts.ts';
import { hurryLarge, readLarge, writeLarge } from './large-drafts.ts';
import { localNames, readLocal, removeLocal, writeLocal } from './local.ts';

/** Chats are in the database, drafts and settings in the local storage: one may have room where the other has none. */
export type Refused = 'chats' | 'drafts';
/** Called when the browser refuses to keep something. */
export type OnRefused = (what: Refused) => void;

/** Each draft has a name of its own, so that tabs in which different chats are written to leave each other's alone. */
const NAME = 'draft.';

/** Longer ones, in characters, go into the database: there is room for some five million in all of the local storage. */
const LARGE = 200_000;

/** What stands in the place of a draft that is in the database; another one each time that it is written. */
interface Elsewhere {
  readonly elsewhere: string;
}

/** What is kept of each draft, as far as this tab knows. */
const kept = new Map<string, string>();
/** What is in the local storage of each, as far as this tab knows: the draft, or that it is elsewhere. */
const local = new Map<string, string>();
/** Those of which nothing is shown until they are read from the database. */
const coming = new Set<string>();

let refuse: OnRefused = () => {};

/** Calls `onRefused` when the browser does not take one. */
export function loadDrafts(onRefused: OnRefused): void {
  refuse = onRefused;
  const drafts: Record<string, Draft> = {};
  for (const name of localNames(NAME)) {
    const draft = readLocal<Draft | Elsewhere>(name);
    if (draft === undefined) continue;
    const chat = name.slice(NAME.length);
    local.set(chat, JSON.stringify(draft));
    if ('elsewhere' in draft) void takeLarge(chat);
    else {
      drafts[chat] = draft;
      kept.set(chat, JSON.stringify(draft));
    }
  }
  app.dispatch({ type: 'drafts/loaded', drafts });
}

/** Keeps the drafts that are others than they were. */
export function writeDrafts(before: DraftsState, now: DraftsState): void {
  for (const chat of new Set([...Object.keys(before), ...Object.keys(now)])) {
    if (before[chat] === now[chat]) continue;
    // The one that comes stays where it is until both are one, though the page may go before: it is the larger loss.
    if (coming.has(chat) && now[chat] !== undefined) continue;
    const draft = keepable(now[chat]);
    const text = draft === undefined ? undefined : JSON.stringify(draft);
    // What another tab has written is not written again: meanwhile it may have gone on.
    if (text === kept.get(chat)) continue;
    if (text === undefined) kept.delete(chat);
    else kept.set(chat, text);
    if (draft !== undefined && text !== undefined && text.length > LARGE) {
      // At once, since the page may go; and again when it is there, for other tabs.
      if (!isElsewhere(chat)) putLocal(chat, { elsewhere: '' });
      const isLast = (): boolean => kept.get(chat) === text;
      writeLarge(chat, draft).then(
        () => isLast() && putLocal(chat, { elsewhere: crypto.randomUUID() }),
        // Where there is no database, as in some private windows, there may be room for it all the same.
        () => isLast() && putLocal(chat, draft),
      );
      continue;
    }
    // What another tab has written meanwhile, or keeps there, is not this one's to remove.
    if (draft === undefined && isOfOther(chat)) {
      local.delete(chat);
      continue;
    }
    if (isElsewhere(chat)) void writeLarge(chat, undefined).catch(() => {});
    if (draft !== undefined) putLocal(chat, draft);
    else {
      local.delete(chat);
      removeLocal(NAME + chat);
    }
  }
}

/** The page goes: what is not in the database by then stays where there may be room for it. */
export function hurryDrafts(): void {
  for (const [chat, draft] of hurryLarge()) if (draft !== undefined && isElsewhere(chat)) putLocal(chat, draft);
}

/** Takes what another tab wrote, or sent, where the draft is still the same here as it was there. */
export function takeDraft({ key, oldValue, newValue }: StorageEvent): void {
  const start = `sluice.${NAME}`;
  if (key === null || !key.startsWith(start)) return;
  const chat = key.slice(start.length);
  if ((local.get(chat) ?? null) !== oldValue) {
    // It is gone there with another one's, which was written at the same time: it is put back.
    const own = keepable(app.get().drafts[chat]);
    if (newValue === null && own !== undefined && !isOfOther(chat)) writeDrafts({}, { [chat]: own });
    return;
  }
  // What is written for a new chat belongs to its tab: each may begin another one.
  if (chat === '' && newValue !== null) return;
  if (newValue === null) local.delete(chat);
  else local.set(chat, newValue);
  const draft = newValue === null ? undefined : (JSON.parse(newValue) as Draft | Elsewhere);
  if (draft !== undefined && 'elsewhere' in draft) void takeLarge(chat);
  else take(chat, draft);
}

function take(chat: string, draft: Draft | undefined): void {
  if (draft === undefined) kept.delete(chat);
  else kept.set(chat, JSON.stringify(draft));
  app.dispatch({ type: 'drafts/taken', chat, ...(draft === undefined ? {} : { draft }) });
}

/**
 * Takes a draft from the database, unless it was changed here meanwhile. What was typed into a message before it was there goes
 * behind it; what was typed into a form, over what it began with, gives way to it.
 */
async function takeLarge(chat: string): Promise<void> {
  const [there, shown] = [local.get(chat), app.get().drafts[chat]];
  if (shown === undefined) coming.add(chat);
  const draft = await readLarge(chat).catch(() => refuse('chats'));
  coming.delete(chat);
  const now = app.get().drafts[chat];
  if (draft === undefined) writeDrafts({}, now === undefined ? {} : { [chat]: now });
  else if (now === shown && local.get(chat) === there) take(chat, draft);
  else if (shown === undefined && now !== undefined) {
    const text = isOfForm(chat) ? draft.text : draft.text + now.text;
    app.dispatch({ type: 'drafts/taken', chat, draft: { ...draft, text } });
  }
}

function isElsewhere(chat: string): boolean {
  return local.get(chat)?.startsWith('{"elsewhere"') === true;
}

function putLocal(chat: string, value: Draft | Elsewhere): void {
  if (writeLocal(NAME + chat, value)) local.set(chat, JSON.stringify(value));
  else refuse('drafts');
}

/** Whether what is in the local storage is a draft of another tab, of which this one has not heard or that it did not take. */
function isOfOther(chat: string): boolean {
  const there = readLocal(NAME + chat);
  return there !== undefined && JSON.stringify(there) !== local.get(chat);
}

/** Removes all that is kept, also what this tab does not know. */
export function removeDrafts(): void {
  for (const name of localNames(NAME)) removeLocal(name);
}
