import { stopAll } from '../../actions/stop.ts';
import { app } from '../../state/app.ts';
import { goTo } from '../../state/route.ts';
import { removeAllOrphans, write } from '../../storage/database.ts';
import { unshareAll } from '../share/keeper.ts';

/** Removes all chats of this browser for good, after it ended what runs in them and the sharing of those that are shared. Ask first. */
export async function deleteAllChats(): Promise<void> {
  stopAll();
  await unshareAll();
  const ids = Object.keys(app.get().chats.byId);
  app.dispatch({ type: 'chats/removed', ids });
  app.dispatch({ type: 'messages/forgotten', chats: ids });
  goTo('#/');
  await write({ remove: { chats: ids } });
  // Also those whose chat is gone already. What another tab takes in meanwhile stays, and whole.
  await removeAllOrphans();
}
