import { stopAll } from '../../actions/stop.ts';
import { deleteBucket } from '../../api/files.ts';
import { toFailure } from '../../api/http.ts';
import { deleteMedia } from '../../api/media.ts';
import { deleteMemory } from '../../api/memory.ts';
import { app } from '../../state/app.ts';
import { ATTACHED, type AttachedFile, keptNames } from '../../state/media.ts';
import type { Failure, Message } from '../../state/model.ts';
import { clearAll, readAll } from '../../storage/database.ts';
import { removeDrafts } from '../../storage/keep-drafts.ts';
import { readRecords, removeRecords } from '../../storage/records.ts';
import { tell } from '../../storage/tabs.ts';
import { unpublish } from '../share/api.ts';

/** What shall go. */
export interface Doomed {
  readonly browser: boolean;
  readonly server: boolean;
  readonly media: boolean;
  readonly settings: boolean;
}

/** What could not be deleted on the server, and why, the last time. */
export interface Left {
  readonly count: number;
  readonly failure?: Failure;
}

/** At the same time. */
const AT_ONCE = 6;

/**
 * Deletes for good. First what is on the server, since this browser alone knows where that is: while something of it is left
 * there, nothing is deleted here.
 */
export async function deleteEverything(doomed: Doomed): Promise<Left> {
  stopAll();
  const work: (() => Promise<unknown>)[] = [];
  const { settings, chats } = app.get();
  if (doomed.server) {
    if (settings.user !== '') work.push(() => deleteMemory(settings.user));
    for (const { share } of Object.values(chats.byId)) if (share !== undefined) work.push(() => unpublish(share));
  }
  const messages = doomed.server || doomed.media ? await readAll<Message>('messages') : [];
  if (doomed.server) for (const id of await bucketsOf(messages)) work.push(() => deleteBucket(id));
  if (doomed.media) for (const name of keptNames(messages)) work.push(() => deleteMedia(name));
  const left = await all(work);
  if (left.count > 0) return left;
  if (doomed.server) {
    const attached = await readRecords<AttachedFile>(ATTACHED);
    await removeRecords(
      ATTACHED,
      attached.map(({ id }) => id),
    );
    unshare();
  }
  if (doomed.settings) app.dispatch({ type: 'settings/reset' });
  if (doomed.browser) await clearBrowser();
  return left;
}

/** Buckets that were noted, and those of messages from before there were notes. */
async function bucketsOf(messages: readonly Message[]): Promise<ReadonlySet<string>> {
  const noted = await readRecords<AttachedFile>(ATTACHED);
  const named = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'file' ? [part.bucketId] : [])));
  return new Set([...noted.map(({ id }) => id), ...named]);
}

async function all(work: readonly (() => Promise<unknown>)[]): Promise<Left> {
  const queue = [...work];
  let count = 0;
  let failure: Failure | undefined;
  const run = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      try {
        await next();
      } catch (thrown) {
        count += 1;
        failure = toFailure(thrown);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  return failure === undefined ? { count } : { count, failure };
}

/** The chats stay, if they stay, as chats that are not shared. */
function unshare(): void {
  const shared = Object.values(app.get().chats.byId).filter(({ share }) => share !== undefined);
  app.dispatch({ type: 'chats/put', chats: shared.map(({ share: _, ...chat }) => chat) });
}

async function clearBrowser(): Promise<void> {
  const { chats, drafts } = app.get();
  const ids = Object.keys(chats.byId);
  for (const chat of Object.keys(drafts)) app.dispatch({ type: 'drafts/cleared', chat });
  app.dispatch({ type: 'chats/removed', ids });
  app.dispatch({ type: 'messages/forgotten', chats: ids });
  removeDrafts();
  await clearAll();
  tell({ kind: 'cleared' });
}
