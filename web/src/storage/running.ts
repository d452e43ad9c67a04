import { app } from '../state/app.ts';
import { newId } from '../state/model.ts';
import { ownChats } from '../state/streams.ts';
import { listen, tell } from './tabs.ts';

/** How many answers each of the other tabs follows, by tab. */
const counts = new Map<string, number>();

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
  // What this tab waited for ends with it.
  addEventListener('pagehide', () => tell({ kind: 'running', tab, chats: {} }));
  tell({ kind: 'begun' });
  return tellRunning;
}

/** What a tab follows now. */
function take(tab: string, chats: Readonly<Record<string, string>>): void {
  const count = Object.keys(chats).length;
  if (count > 0) counts.set(tab, count);
  else counts.delete(tab);
  app.dispatch({ type: 'streams/told', tab, chats });
}
