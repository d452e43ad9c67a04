import type { WireChunk } from '../api/chunks.ts';
import { type AnswerStream, attach, converse, stopStream } from '../api/conversation.ts';
import { isAbort, RequestError, toFailure } from '../api/http.ts';
import { announce } from '../components/announce.ts';
import { t } from '../i18n/index.ts';
import { app } from '../state/app.ts';
import { type Choice, canSearch, findOffer } from '../state/catalog.ts';
import { type Chat, isOver, type Message, newId, type Part, textOf } from '../state/model.ts';
import { requestBody } from '../state/request.ts';
import { parseRoute } from '../state/route.ts';
import { endedAt, resumedAt } from '../state/take.ts';
import { type MessageMap, pathTo } from '../state/tree.ts';
import { choiceOf, createChat, openChat } from './chats.ts';
import { rememberQuestion, takeMemoryOfNext } from './memory.ts';
import { takeSetupOfNext } from './setup.ts';

/** How to stop what runs in this tab, by message. */
const stops = new Map<string, AbortController>();

/** Waiting times between attempts to get back to a stream, in milliseconds; the last one is repeated. */
const RETRY_MS = [250, 500, 1_000, 2_000, 4_000];
/** So many attempts in a row without anything new, then the answer counts as lost. About a minute and a half. */
const MOST_RETRIES = 24;
/** How long a page that goes away may still hear of that, in milliseconds. */
const GOING_MS = 100;

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

/** The first words of a question, until there is something better. */
export function titleFrom(parts: readonly Part[]): string {
  const [first] = parts.flatMap((part) =>
    part.type === 'text' ? [part.text] : part.type === 'file' ? [part.name] : [],
  );
  const line = (first ?? '').trim().split('\n')[0] ?? '';
  return line.length > 60 ? `${line.slice(0, 59).trimEnd()}…` : line;
}

/** Has the question of an answer answered once more, as a branch of its own. */
export function regenerate(message: Message): void {
  if (message.parent !== null) void answer(message.chat, message.parent, 'variant');
}

/** Asks again in other words, as a branch of its own. */
export function editQuestion(message: Message, parts: readonly Part[]): void {
  const question = makeMessage(message.chat, message.parent, 'user', { parts });
  app.dispatch({ type: 'messages/put', messages: [question] });
  app.dispatch({ type: 'chats/changed', id: message.chat, change: { leaf: question.id, updated: Date.now() } });
  void answer(message.chat, question.id, 'next');
}

/** Prolongs an answer that was cut off. */
export function continueAnswer(message: Message): void {
  const { finish: _, error: __, streamId: ___, lastEvent: ____, suggestions: _____, ...rest } = message;
  const kept = {
    ...rest,
    ...(rest.usage === undefined ? {} : { usageBefore: rest.usage }),
    ...(rest.timing === undefined ? {} : { timing: resumedAt(rest.timing, Date.now()) }),
  };
  app.dispatch({ type: 'messages/put', messages: [kept] });
  void run(kept, 'continue');
}

/** Stops an answer, here and on the server, whichever tab asked for it. */
export function stop(message: Message): void {
  const change = { finish: 'stopped', timing: endedAt(message.timing, Date.now()) };
  app.dispatch({ type: 'messages/changed', chat: message.chat, id: message.id, change });
  stops.get(message.id)?.abort();
  if (message.streamId !== undefined) stopStream(message.streamId).catch(() => {});
  announce(t('chat.stopped'));
}

/** Stops all answers that run in this tab, or those of one chat; not the message `but`. */
export function stopAll(chat?: string, but?: string): void {
  const { streams, messages } = app.get();
  for (const [id, running] of Object.entries(streams)) {
    const message = messages[running.chat]?.[id];
    if (message !== undefined && id !== but && (chat ?? running.chat) === running.chat) stop(message);
  }
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

/** Goes on with the answers of a chat that the server may still be giving: after a reload, or in another tab. */
export function resumeAnswers(messages: MessageMap): void {
  for (const message of Object.values(messages)) {
    if (isOver(message) || stops.has(message.id)) continue;
    if (message.streamId !== undefined) void follow(message, attachTo(message));
  }
}

function attachTo({ streamId = '', lastEvent = 0 }: Message): (signal: AbortSignal) => Promise<AnswerStream> {
  return (signal) => attach(streamId, lastEvent, signal);
}

function change(message: Message, members: Partial<Message>): void {
  app.dispatch({ type: 'messages/changed', chat: message.chat, id: message.id, change: members });
}

function latest(message: Message): Message {
  return app.get().messages[message.chat]?.[message.id] ?? message;
}

/** Takes what a stream brings into its message. When the connection breaks off and the server keeps the stream, attaches again. */
async function follow(message: Message, open: (signal: AbortSignal) => Promise<AnswerStream>): Promise<void> {
  const leaving = new AbortController();
  stops.set(message.id, leaving);
  app.dispatch({ type: 'streams/opened', message: message.id, chat: message.chat });
  const frames = gather(message);
  let next = open;
  let failures = 0;
  try {
    for (;;) {
      try {
        const stream = await next(leaving.signal);
        if (stream.id !== undefined && stream.id !== latest(message).streamId) {
          change(message, { streamId: stream.id, lastEvent: 0 });
        }
        app.dispatch({ type: 'streams/phase', message: message.id, phase: 'streaming' });
        for await (const { chunks, lastEvent } of stream.arrivals) {
          failures = 0;
          frames.add(chunks, lastEvent);
        }
        frames.flush();
        const now = latest(message);
        if (isOver(now)) break;
        throw new RequestError({ message: '', code: 'cut' });
      } catch (thrown) {
        frames.flush();
        const now = latest(message);
        if (leaving.signal.aborted || isOver(now)) break;
        const failure = toFailure(thrown);
        const isGone = failure.code !== 'cut' && failure.code !== 'unreachable';
        if (now.streamId === undefined || isGone || failures >= MOST_RETRIES) {
          const isLost = now.streamId !== undefined && failure.status !== undefined && failure.status < 500;
          // A page that goes away breaks off what it has asked for, which is no failure. It does not live for so long.
          await pause(GOING_MS, leaving.signal);
          if (leaving.signal.aborted) break;
          const error = isLost ? { message: '', code: 'lost' } : failure;
          change(message, { error, timing: endedAt(now.timing, Date.now()) });
          break;
        }
        app.dispatch({ type: 'streams/phase', message: message.id, phase: 'lost' });
        await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0, leaving.signal);
        failures += 1;
        if (leaving.signal.aborted) break;
        next = attachTo(latest(message));
      }
    }
  } catch (thrown) {
    if (!isAbort(thrown)) throw thrown;
  } finally {
    stops.delete(message.id);
    app.dispatch({ type: 'streams/closed', message: message.id });
    const now = latest(message);
    if (now.finish !== 'stopped') {
      if (textOf(now) !== '') announce(t('chat.complete'));
      const isShown = parseRoute(location.hash).path[0] === message.chat;
      if (!isShown) app.dispatch({ type: 'chats/changed', id: message.chat, change: { unread: true } });
    }
  }
}

/** Takes all that arrives between two pictures at once: nobody sees more, and each step costs a rendering. */
function gather(message: Message): { add(chunks: readonly WireChunk[], lastEvent?: number): void; flush(): void } {
  let chunks: WireChunk[] = [];
  let lastEvent: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let frame = 0;
  const flush = (): void => {
    clearTimeout(timer);
    cancelAnimationFrame(frame);
    frame = 0;
    timer = undefined;
    if (chunks.length === 0) return;
    const taken = chunks;
    chunks = [];
    if (latest(message).finish === 'stopped') return;
    const event = lastEvent === undefined ? {} : { lastEvent };
    const { chat, id } = message;
    app.dispatch({ type: 'messages/chunks', chat, id, chunks: taken, now: Date.now(), ...event });
    takeAboutChat(chat, taken);
  };
  return {
    add: (arrived, event) => {
      chunks.push(...arrived);
      lastEvent = event ?? lastEvent;
      if (frame !== 0) return;
      frame = requestAnimationFrame(flush);
      // In a tab that nobody sees there are no pictures.
      timer = setTimeout(flush, 250);
    },
    flush,
  };
}

/** Titles, and the state that providers want back. */
function takeAboutChat(id: string, chunks: readonly WireChunk[]): void {
  for (const chunk of chunks) {
    const chat = app.get().chats.byId[id];
    if (chat === undefined) return;
    if (chunk.type === 'title' && chat.titleBy !== 'person' && chunk.title.trim() !== '') {
      app.dispatch({ type: 'chats/changed', id, change: { title: chunk.title.trim(), titleBy: 'model' } });
    } else if (chunk.type === 'conversation') {
      const conversation = { ...chat.conversation, ...chunk.conversation };
      app.dispatch({ type: 'chats/changed', id, change: { conversation } });
    }
  }
}

/** Waits, but no longer than until the network is back. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}
