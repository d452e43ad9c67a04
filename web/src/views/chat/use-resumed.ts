import { useEffect } from 'preact/hooks';
import { resumeAnswers } from '../../actions/follow.ts';
import { app } from '../../state/app.ts';
import { isOver, type Message } from '../../state/model.ts';
import { useApp } from '../../state/use.ts';

/** Follows the answers of a chat that another tab, or this page before it was loaded anew, has asked for. */
export function useResumed(chat: string): void {
  const count = useApp((state) => Object.values(state.messages[chat] ?? {}).filter(isWaiting).length);
  useEffect(() => {
    if (count > 0) resumeAnswers(app.get().messages[chat] ?? {});
  }, [chat, count]);
}

function isWaiting(message: Message): boolean {
  return message.streamId !== undefined && !isOver(message);
}
