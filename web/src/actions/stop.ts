import { stopStream } from '../api/conversation.ts';
import { announce } from '../components/announce.ts';
import { t } from '../i18n/index.ts';
import { app } from '../state/app.ts';
import { isOver, type Message } from '../state/model.ts';
import { endedAt } from '../state/take.ts';
import { change } from './follow.ts';

/** Stops an answer, here and on the server, whichever tab asked for it. */
export function stop(message: Message): void {
  change(message, { finish: 'stopped', timing: endedAt(message.timing, Date.now()) });
  if (message.streamId !== undefined) stopStream(message.streamId).catch(() => {});
  announce(t('chat.stopped'));
}

/** Stops all answers of the chats that were read, or of one of them; not the message `but`. */
export function stopAll(chat?: string, but?: string): void {
  const { messages, streams } = app.get();
  for (const map of chat === undefined ? Object.values(messages) : [messages[chat] ?? {}]) {
    for (const message of Object.values(map)) {
      // Those without a stream of their own broke off, unless they have just been asked for.
      const mayRun = message.streamId !== undefined || streams[message.id] !== undefined;
      if (mayRun && !isOver(message) && message.id !== but) stop(message);
    }
  }
}
