import type { WireChunk } from '../api/chunks.ts';
import { type AnswerStream, attach } from '../api/conversation.ts';
import { isAbort, RequestError, toFailure } from '../api/http.ts';
import { announce } from '../components/announce.ts';
import { t } from '../i18n/index.ts';
import { app } from '../state/app.ts';
import { type Failure, isOver, type Message, textOf } from '../state/model.ts';
import { ownChats } from '../state/streams.ts';
import { endedAt } from '../state/take.ts';
import type { MessageMap } from '../state/tree.ts';
import { inPlace, isShown } from './places.ts';

/** Waiting times between attempts to get back to a stream, in milliseconds; the last one is repeated. */
const RETRY_MS = [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
/**
 * All pauses in a row without anything new, in milliseconds, before the answer counts as lost. The server forgets one that
 * nobody reads after a quarter of an hour, but may be told to keep it for longer.
 */
const LONGEST_MS = 3_600_000;
/** How long a page that goes away may still hear of that, in milliseconds. */
const GOING_MS = 100;

/** Goes on with the answers of a chat that the server may still be giving: after a reload, or in another tab. */
export function resumeAnswers(messages: MessageMap): void {
  const own = ownChats(app.get().streams);
  for (const message of Object.values(messages)) {
    if (isOver(message) || own[message.id] !== undefined) continue;
    if (message.streamId !== undefined) void follow(message, attachTo(message));
  }
}

function attachTo({ streamId = '', lastEvent = 0 }: Message): (signal: AbortSignal) => Promise<AnswerStream> {
  return (signal) => attach(streamId, lastEvent, signal);
}

/** Changes members of a message, as the page has it now; `message` may be an older state of it. */
export function change(message: Message, members: Partial<Message>): void {
  app.dispatch({ type: 'messages/changed', chat: message.chat, id: message.id, change: members });
}

function latest(message: Message): Message {
  return app.get().messages[message.chat]?.[message.id] ?? message;
}

/** Takes what a stream brings into its message. When the connection breaks off and the server keeps the stream, attaches again. */
export async function follow(message: Message, open: (signal: AbortSignal) => Promise<AnswerStream>): Promise<void> {
  const leaving = new AbortController();
  // Whoever stops the answer, or deletes its chat, in whichever tab.
  const end = app.subscribe(() => {
    const now = app.get().messages[message.chat]?.[message.id];
    if (now === undefined || now.finish === 'stopped') leaving.abort();
  });
  app.dispatch({ type: 'streams/opened', message: message.id, chat: message.chat });
  const frames = gather(message);
  const back = watchForReturn(leaving.signal);
  let next = open;
  let failures = 0;
  let waited = 0;
  try {
    for (;;) {
      try {
        const isQuestion = latest(message).streamId === undefined;
        const isRead = await inPlace({ chat: message.chat, isQuestion }, leaving.signal, async (signal, canBeLetGo) => {
          back.forget();
          const stream = await next(signal);
          if (stream.id !== undefined && stream.id !== latest(message).streamId) {
            change(message, { streamId: stream.id, lastEvent: 0 });
          }
          app.dispatch({ type: 'streams/phase', message: message.id, phase: 'streaming' });
          if (stream.id !== undefined) canBeLetGo();
          for await (const { chunks, lastEvent } of stream.arrivals) {
            failures = 0;
            waited = 0;
            frames.add(chunks, lastEvent);
          }
        });
        frames.flush();
        const now = latest(message);
        if (isOver(now)) break;
        if (isRead) throw new RequestError({ message: '', code: 'cut' });
        next = attachTo(now);
      } catch (thrown) {
        frames.flush();
        const now = latest(message);
        if (leaving.signal.aborted || isOver(now)) break;
        const failure = toFailure(thrown);
        if (now.streamId === undefined || !isPassing(failure) || waited >= LONGEST_MS) {
          const isLost = now.streamId !== undefined && failure.status !== undefined && failure.status < 500;
          // A page that goes away breaks off what it has asked for, which is no failure. It does not live for so long.
          await pause(GOING_MS, leaving.signal);
          if (leaving.signal.aborted) break;
          const error = isLost ? { message: '', code: 'lost' } : failure;
          change(message, { error, timing: endedAt(now.timing, Date.now()) });
          break;
        }
        app.dispatch({ type: 'streams/phase', message: message.id, phase: 'lost' });
        const wait = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0;
        const isWoken = await back.pause(wait);
        failures = isWoken ? 0 : failures + 1;
        // Without a network nothing is known of the server.
        if (!isWoken && navigator.onLine) waited += wait;
        if (leaving.signal.aborted) break;
        next = attachTo(latest(message));
      }
    }
  } catch (thrown) {
    if (!isAbort(thrown)) throw thrown;
  } finally {
    end();
    back.close();
    app.dispatch({ type: 'streams/closed', message: message.id });
    const now = latest(message);
    if (now.finish !== 'stopped') {
      if (textOf(now) !== '') announce(t('chat.complete'));
      if (!isShown(message.chat)) app.dispatch({ type: 'chats/changed', id: message.chat, change: { unread: true } });
    }
  }
}

/**
 * Whether the server may still have the answer: it was not reached, or has too much to do. What has no code was not said by the
 * server, but by something in front of it.
 */
function isPassing({ code, status = 0 }: Failure): boolean {
  if (code === undefined || code === 'cut' || code === 'unreachable') return true;
  return status === 429 || status === 503;
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

/** Notices that the network is back, or that somebody looks at the page again: attempts to get back to a stream need not wait then. */
interface ReturnWatch {
  /** From here on only what is still to come counts. */
  forget(): void;
  /** Waits, but no longer than until somebody or something is back, and says whether that came first, be it before the call. */
  pause(milliseconds: number): Promise<boolean>;
  close(): void;
}

function watchForReturn(signal: AbortSignal): ReturnWatch {
  // Also while an attempt is on its way: it may have gone out too early, and fail.
  let isBack = new AbortController();
  const wake = (): void => isBack.abort();
  const look = (): void => {
    if (document.visibilityState === 'visible') wake();
  };
  addEventListener('online', wake);
  document.addEventListener('visibilitychange', look);
  return {
    forget: () => {
      isBack = new AbortController();
    },
    pause: async (milliseconds) => {
      await pause(milliseconds, AbortSignal.any([signal, isBack.signal]));
      return isBack.signal.aborted;
    },
    close: () => {
      removeEventListener('online', wake);
      document.removeEventListener('visibilitychange', look);
    },
  };
}

/** Waits, but no longer than until the signal. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end);
  });
}
