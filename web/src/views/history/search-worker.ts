import { HistoryIndex } from '../../state/history-index.ts';
import { marked, type Snippet, snippetOf, termsOf } from '../../state/history-text.ts';
import type { Chat, Message } from '../../state/model.ts';
import { readAll, readBy, readOne, readPage } from '../../storage/database.ts';
import { listen } from '../../storage/tabs.ts';
import type { ToWorker } from './search.ts';

/** Reads all chats from the browser's database, in a thread of its own, and follows what the tabs write there. */
const index = new HistoryIndex();
/** Messages read at once. */
const PAGE = 1_000;

const built = build();
// Whoever asks hears of it.
built.catch(() => {});

async function build(): Promise<void> {
  const changed = listen((word) => {
    // In the order in which they were told, and not before all is read.
    if (word.kind === 'chats') void built.then(() => takeChats(word.put, word.removed));
    else if (word.kind === 'messages') void built.then(() => takeMessages(word.chat, word.put, word.removed));
  });
  try {
    const chats = await readAll<Chat>('chats');
    for (const { id, title, updated } of chats) index.putChat(id, title, updated);
    let after: string | undefined;
    for (;;) {
      const page = await readPage<Message>('messages', PAGE, after);
      for (const message of page) put(message);
      after = page.at(-1)?.id;
      if (page.length < PAGE) break;
    }
  } catch (error) {
    changed();
    throw error;
  }
}

/** Messages whose chat is gone are leftovers of a write that another tab did not finish. */
function put(message: Message): void {
  if (index.has(message.chat)) index.putMessage({ id: message.id, chat: message.chat, text: searchable(message) });
}

/** What of a message is searched. */
function searchable({ parts }: Message): string {
  return parts
    .map((part) => (part.type === 'text' ? part.text : part.type === 'file' ? part.name : (part.alt ?? '')))
    .join('\n');
}

async function takeChats(ids: readonly string[], removed: readonly string[]): Promise<void> {
  for (const id of removed) index.removeChat(id);
  for (const id of ids) {
    const chat = await readOne<Chat>('chats', id);
    if (chat === undefined) continue;
    const isNew = !index.has(id);
    index.putChat(id, chat.title, chat.updated);
    if (isNew) for (const message of await readBy<Message>('messages', 'chat', id)) put(message);
  }
  postMessage({ kind: 'changed' });
}

async function takeMessages(chat: string, ids: readonly string[], removed: readonly string[]): Promise<void> {
  for (const id of removed) index.removeMessage(chat, id);
  for (const id of ids) {
    const message = await readOne<Message>('messages', id);
    if (message !== undefined) put(message);
  }
  postMessage({ kind: 'changed' });
}

addEventListener('message', async ({ data }: MessageEvent<ToWorker>) => {
  try {
    await built;
    const answer = data.kind === 'search' ? index.search(data.search) : await snippets(data.messages, data.search);
    postMessage({ kind: 'answer', call: data.call, answer });
  } catch (error) {
    postMessage({ kind: 'failed', call: data.call, message: String(error) });
  }
});

async function snippets(ids: readonly string[], search: string): Promise<Readonly<Record<string, Snippet>>> {
  const terms = termsOf(search);
  const read = await Promise.all(ids.map((id) => readOne<Message>('messages', id)));
  const found = read.filter((message) => message !== undefined);
  return Object.fromEntries(
    found.map((message) => {
      const text = searchable(message);
      return [message.id, text.length < 160 ? marked(text, terms) : snippetOf(text, terms)];
    }),
  );
}
