import { converse } from '../api/conversation.ts';
import { toFailure } from '../api/http.ts';
import { toast } from '../components/toast.ts';
import { beginning } from '../i18n/beginning.ts';
import { t } from '../i18n/index.ts';
import { app } from '../state/app.ts';
import { type Chat, type Failure, type Message, newId, textOf } from '../state/model.ts';
import { requestBody } from '../state/request.ts';
import { takeChunks } from '../state/take.ts';
import { pathTo } from '../state/tree.ts';
import { loadMessages } from '../storage/keep.ts';
import { reasonOf } from '../views/chat/advice.ts';
import { choiceOf, renameChat } from './chats.ts';

/** What a model gets to read: so many messages, and so many characters of each. */
const MESSAGES = 4;
const CHARACTERS = 1_500;
/** Longer ones are cut: somebody who was asked for a title may still write an essay. */
const LONGEST = 80;

/** Has the chat's model write its title. From then on it is like one that the person wrote: nothing else replaces it. */
export async function nameChat(chat: Chat): Promise<void> {
  try {
    const path = pathTo(await loadMessages(chat.id), chat.leaf);
    const answer = await answerTo(chat, questionAbout(path));
    const title = titleIn(textOf(answer));
    if (title === '') notNamed(answer.error);
    else renameChat(chat.id, title);
  } catch (thrown) {
    notNamed(toFailure(thrown));
  }
}

function notNamed(failure: Failure | undefined): void {
  toast(t('shell.notNamed', { reason: failure === undefined ? t('chat.empty') : reasonOf(failure) }));
}

function questionAbout(path: readonly Message[]): string {
  const texts = path.slice(0, MESSAGES).map((message) => `${message.role}: ${textOf(message).slice(0, CHARACTERS)}`);
  return [
    'This is how a conversation begins:',
    ...texts,
    'Write a title for it, of at most six words, in the language of the conversation. Answer with the title alone.',
  ].join('\n\n');
}

/** Beside the chat: nothing of its instructions, its memory and its state at the provider. */
async function answerTo(chat: Chat, text: string): Promise<Message> {
  const { settings } = app.get();
  const aside: Chat = { ...chat, id: newId(), system: '', parameters: {}, conversation: {}, memory: false };
  const question: Message = {
    id: newId(),
    chat: aside.id,
    parent: null,
    role: 'user',
    parts: [{ type: 'text', text }],
    createdAt: Date.now(),
  };
  const turn = { action: 'next', id: newId() } as const;
  const body = requestBody(aside, [question], choiceOf(chat), { ...settings, webSearch: false }, turn);
  const { arrivals } = await converse(body, new AbortController().signal);
  let answer: Message = { ...question, id: turn.id, role: 'assistant', parts: [] };
  for await (const { chunks } of arrivals) answer = takeChunks(answer, chunks, Date.now());
  return answer;
}

/** The first line, without the quotation marks and signs of markdown that models like around titles. */
function titleIn(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  const bare = line
    .slice(0, 2 * LONGEST)
    .replace(/^[\s"'“”„«»*#_]+/, '')
    .replace(/(?<![\s"'“”„«»*#_])[\s"'“”„«»*#_]+$/, '');
  return beginning(bare, LONGEST).trim();
}
