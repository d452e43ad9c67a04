import { toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { sortedChats } from '../../state/chats.ts';
import type { Message } from '../../state/model.ts';
import { readAll, readBy } from '../../storage/database.ts';
import type { WholeChat } from './imported.ts';
import { type ExportWords, fileName, toJson, toMarkdown } from './write.ts';
import { zip } from './zip.ts';

/** From here on reading all messages at once is quicker than chat by chat. */
const MANY = 50;

/** Saves chats as files: one markdown file or a ZIP archive of them, or one JSON file that can be imported again. */
export async function exportChats(ids: readonly string[] | 'all', format: 'markdown' | 'json'): Promise<void> {
  const chats = await wholeChats(ids);
  const [first] = chats;
  if (first === undefined) return toast(t('transfer.nothing'));
  const now = new Date();
  const day = now.toISOString().slice(0, 10);
  const untitled = t('shell.untitled');
  const isOne = chats.length === 1 && ids !== 'all';
  if (format === 'json') {
    const name = isOne ? fileName(first.chat, 'json', untitled) : `sluice-chats-${day}.json`;
    save(new Blob(toJson(chats, now), { type: 'application/json' }), name);
  } else if (isOne) {
    save(new Blob([toMarkdown(first, words())], { type: 'text/markdown' }), fileName(first.chat, 'md', untitled));
  } else {
    const taken = new Set<string>();
    const members = chats.map((chat) => {
      const folder = chat.chat.folder === undefined ? '' : `${plainName(chat.chat.folder)}/`;
      return { name: folder + fileName(chat.chat, 'md', untitled, taken), text: toMarkdown(chat, words()) };
    });
    save(zip(members, now), `sluice-chats-${day}.zip`);
  }
  toast(t('transfer.exported', { count: chats.length }));
}

/** Chats with all their messages, the newest state of each, in the order of the list. */
export async function wholeChats(ids: readonly string[] | 'all'): Promise<readonly WholeChat[]> {
  const { chats, messages } = app.get();
  const wanted = new Set(ids);
  const listed = sortedChats(chats).filter(({ id }) => ids === 'all' || wanted.has(id));
  const kept =
    listed.length > MANY ? Map.groupBy(await readAll<Message>('messages'), (message) => message.chat) : undefined;
  const whole: WholeChat[] = [];
  for (const chat of listed) {
    const opened = messages[chat.id];
    const read = kept === undefined ? await readBy<Message>('messages', 'chat', chat.id) : kept.get(chat.id);
    const all = new Map((read ?? []).map((message) => [message.id, message]));
    // What is on the screen is newer than what is on the disk.
    for (const message of Object.values(opened ?? {})) all.set(message.id, message);
    whole.push({ chat, messages: [...all.values()] });
  }
  return whole;
}

function words(): ExportWords {
  return {
    you: t('chat.you'),
    answer: t('chat.answer'),
    system: t('share.instructions'),
    sources: t('transfer.sources'),
    untitled: t('shell.untitled'),
  };
}

function plainName(name: string): string {
  return name.replace(/[^\p{L}\p{M}\p{N} _-]+/gu, ' ').trim() || '_';
}

/** Hands a file to the browser's downloads. */
export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
