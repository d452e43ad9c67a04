import { app } from '../state/app.ts';
import { type Draft, type DraftsState, keepable } from '../state/drafts.ts';
import { localNames, readLocal, removeLocal, writeLocal } from './local.ts';

/** Each draft has a name of its own, so that tabs in which different chats are written to leave each other's alone. */
const NAME = 'draft.';

/** What is kept of each draft, as far as this tab knows. */
const kept = new Map<string, string>();

export function loadDrafts(): void {
  const drafts: Record<string, Draft> = {};
  for (const name of localNames(NAME)) {
    const draft = readLocal<Draft>(name);
    if (draft === undefined) continue;
    const chat = name.slice(NAME.length);
    drafts[chat] = draft;
    kept.set(chat, JSON.stringify(draft));
  }
  app.dispatch({ type: 'drafts/loaded', drafts });
}

/** Keeps the drafts that are others than they were. */
export function writeDrafts(before: DraftsState, now: DraftsState): void {
  for (const chat of new Set([...Object.keys(before), ...Object.keys(now)])) {
    if (before[chat] === now[chat]) continue;
    const draft = keepable(now[chat]);
    const text = draft === undefined ? undefined : JSON.stringify(draft);
    // What another tab has written is not written again: meanwhile it may have gone on.
    if (text === kept.get(chat)) continue;
    if (text === undefined) {
      kept.delete(chat);
      removeLocal(NAME + chat);
    } else {
      kept.set(chat, text);
      writeLocal(NAME + chat, draft);
    }
  }
}

/** Takes what another tab wrote, or sent, where the draft is still the same here as it was there. */
export function takeDraft({ key, oldValue, newValue }: StorageEvent): void {
  const start = `sluice.${NAME}`;
  if (key === null || !key.startsWith(start)) return;
  const chat = key.slice(start.length);
  if ((kept.get(chat) ?? null) !== oldValue) return;
  // What is written for a new chat belongs to its tab: each may begin another one.
  if (chat === '' && newValue !== null) return;
  if (newValue === null) kept.delete(chat);
  else kept.set(chat, newValue);
  const draft = newValue === null ? undefined : (JSON.parse(newValue) as Draft);
  app.dispatch({ type: 'drafts/taken', chat, ...(draft === undefined ? {} : { draft }) });
}

/** Removes all that is kept, also what this tab does not know. */
export function removeDrafts(): void {
  for (const name of localNames(NAME)) removeLocal(name);
}
