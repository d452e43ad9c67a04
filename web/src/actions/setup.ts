import { app } from '../state/app.ts';
import type { Chat } from '../state/model.ts';
import { cleaned, NEXT_SETUP, type Setup, setupOf } from '../state/setup.ts';

/** Changes how answers of a chat shall be made; without a chat, those of the next one. */
export function changeSetup(chat: Pick<Chat, 'id'> | undefined, change: Setup): void {
  const { chats, settings } = app.get();
  const there = chat === undefined ? undefined : chats.byId[chat.id];
  const next = cleaned({ ...setupOf(there, settings), ...change });
  if (there === undefined) {
    app.dispatch({ type: 'settings/changed', change: { more: { ...settings.more, [NEXT_SETUP]: next } } });
    return;
  }
  const { system: _, parameters: __, ...rest } = there;
  app.dispatch({ type: 'chats/put', chats: [{ ...rest, ...next }] });
}

/** What a chat that begins now shall have, which is used up with that. */
export function takeSetupOfNext(): Setup {
  const { settings } = app.get();
  const setup = setupOf(undefined, settings);
  if (settings.more[NEXT_SETUP] === undefined) return setup;
  const { [NEXT_SETUP]: _, ...more } = settings.more;
  app.dispatch({ type: 'settings/changed', change: { more } });
  return setup;
}
