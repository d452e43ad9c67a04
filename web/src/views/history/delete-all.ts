import { stopAll } from '../../actions/stop.ts';
import { app } from '../../state/app.ts';
import type { Message } from '../../state/model.ts';
import { goTo } from '../../state/route.ts';
import { readAll, write } from '../../storage/database.ts';
import { unshareAll } from '../share/keeper.ts';

/** Removes all chats of this browser for good, after it ended what runs in them and the sharing of those that are shared. Ask first. */
export async function deleteAllChats(): Promise<void> {
  stopAll();
  await unshareAll();
  const ids = Object.keys(app.get().chats.byId);
  app.dispatch({ type: 'chats/removed', ids });
  app.dispatch({ type: 'messages/forgotten', chats: ids });
  goTo('#/');
  // Also those whose chat is gone already.
  const messages = await readAll<Message>('messages');
  await write({ remove: { chats: ids, messages: messages.map(({ id }) => id) } });
}
