import { converse } from '../api/conversation.ts';
import { toast } from '../components/toast.ts';
import { beginning } from '../i18n/beginning.ts';
import { t } from '../i18n/index.ts';
import { app } from '../state/app.ts';
import { type Choice, canSearch, findOffer } from '../state/catalog.ts';
import { type Chat, type Message, newId, type Part } from '../state/model.ts';
import { requestBody } from '../state/request.ts';
import { resumedAt } from '../state/take.ts';
import { pathTo } from '../state/tree.ts';
import { mayAsk } from '../storage/running.ts';
import { noteAsked } from './asked-here.ts';
import { choiceOf, createChat, openChat } from './chats.ts';
import { change, follow } from './follow.ts';
import { rememberQuestion, takeMemoryOfNext } from './memory.ts';
import { takeSetupOfNext } from './setup.ts';

/** Sends a question in `chat`, or in a chat that begins with it. */
export function ask(chat: Chat | undefined, parts: readonly Part[]): void {
  const choice = choiceOf(chat);
  const title = titleFrom(parts);
  const there = chat ?? createChat({ ...choice, title, ...takeMemoryOfNext(), ...takeSetupOfNext() });
  const question = makeMessage(there.id, there.leaf ?? null, 'user', { parts });
  app.dispatch({ type: 'messages/put', messages: [question] });
  app.dispatch({ type: 'chats/changed', id: there.id, change: { leaf: question.id, updated: question.createdAt } });
  if (chat === undefined) openChat(there.id);
  void answer(there.id, question.id, 'next').then(() => rememberQuestion(there, parts));
}

/** The first words of a question, or the name of its first file, until there is something better. */
export function titleFrom(parts: readonly Part[]): string {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text.trim()] : []));
  const names = parts.flatMap((part) => (part.type === 'file' ? [part.name] : []));
  const [first = ''] = [...texts, ...names].filter((words) => words !== '');
  const line = first.split('\n')[0] ?? '';
  return line.length > 60 ? `${beginning(line, 59).trimEnd()}…` : line;
}

/** Whether this tab may ask in a chat, where another one may just have done so. Says why not. */
export async function isAloneIn(chat: string): Promise<boolean> {
  const isAlone = await mayAsk(chat);
  if (!isAlone) toast(t('chat.editWaits'));
  return isAlone;
}

/** Has the question of an answer answered once more, as a branch of its own. */
export async function regenerate(message: Message): Promise<void> {
  if (message.parent !== null && (await isAloneIn(message.chat))) await answer(message.chat, message.parent, 'variant');
}

/** Asks again in other words, as a branch of its own. */
export function editQuestion(message: Message, parts: readonly Part[]): void {
  const question = makeMessage(message.chat, message.parent, 'user', { parts });
  app.dispatch({ type: 'messages/put', messages: [question] });
  app.dispatch({ type: 'chats/changed', id: message.chat, change: { leaf: question.id, updated: Date.now() } });
  void answer(message.chat, question.id, 'next');
}

/** Prolongs an answer that was cut off. */
export async function continueAnswer(message: Message): Promise<void> {
  if (!(await isAloneIn(message.chat))) return;
  const { finish: _, error: __, streamId: ___, lastEvent: ____, suggestions: _____, ...rest } = message;
  const kept = {
    ...rest,
    ...(rest.usage === undefined ? {} : { usageBefore: rest.usage }),
    ...(rest.timing === undefined ? {} : { timing: resumedAt(rest.timing, Date.now()) }),
  };
  app.dispatch({ type: 'messages/put', messages: [kept] });
  await run(kept, 'continue');
}

function makeMessage(chat: string, parent: string | null, role: Message['role'], members: Partial<Message>): Message {
  return { id: newId(), chat, parent, role, parts: [], createdAt: Date.now(), ...members };
}

async function answer(chat: string, question: string, action: 'next' | 'variant'): Promise<void> {
  const message = beginAnswer(chat, question);
  app.dispatch({ type: 'chats/changed', id: chat, change: { leaf: message.id, updated: message.createdAt } });
  await run(message, action);
}

function beginAnswer(chat: string, question: string): Message {
  const message = makeMessage(chat, question, 'assistant', { timing: { asked: Date.now() } });
  noteAsked(message.id);
  app.dispatch({ type: 'messages/put', messages: [message] });
  return message;
}

/** Has a question answered by a model other than the chat's, on a branch that is not shown for that. Returns the answer. */
export function answerBy(chat: string, question: string, choice: Choice, action: 'next' | 'variant'): Message {
  const message = beginAnswer(chat, question);
  void run(message, action, choice);
  return message;
}

/** Puts a question below `parent`, without asking anybody yet. */
export function addQuestion(chat: string, parent: string | null, parts: readonly Part[]): Message {
  const question = makeMessage(chat, parent, 'user', { parts });
  app.dispatch({ type: 'messages/put', messages: [question] });
  return question;
}

/** Asks for the answer `message`, and follows it to its end. */
async function run(message: Message, action: 'next' | 'variant' | 'continue', wish?: Choice): Promise<void> {
  const { chats, messages, settings, catalog } = app.get();
  const chat = chats.byId[message.chat];
  if (chat === undefined) return;
  const path = pathTo(messages[chat.id] ?? {}, action === 'continue' ? message.id : (message.parent ?? undefined));
  const choice = wish ?? choiceOf(chat);
  const label = findOffer(catalog, choice)?.providerLabel;
  change(message, { provider: choice.provider, model: choice.model, ...(label === undefined ? {} : { label }) });
  const webSearch = settings.webSearch && canSearch(catalog);
  const body = requestBody(chat, path, choice, { ...settings, webSearch }, { action, id: message.id });
  await follow(message, (signal) => converse(body, signal));
}
