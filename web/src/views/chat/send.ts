import { ask } from '../../actions/answer.ts';
import { sayFailed, takeParts } from '../../actions/attachments.ts';
import { readChat } from '../../actions/chats.ts';
import { toast } from '../../components/toast.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { type Attachment, emptyDraft, isTaking } from '../../state/drafts.ts';
import type { Part } from '../../state/model.ts';
import { runningIn } from '../../state/streams.ts';
import { mayAsk } from '../../storage/running.ts';

/** Whether a draft says nothing: no words, and no file that is ready. */
export function isNothing(text: string, attachments: readonly Attachment[]): boolean {
  return text.trim() === '' && attachments.every(({ phase }) => phase !== 'ready');
}

/** Asks what the draft says, or leaves it as it is where that cannot be now; `onSend` gets it instead of its chat. */
export async function send(name: string, onSend: ((parts: readonly Part[]) => void) | undefined): Promise<void> {
  // Where it cannot be read the screen says so.
  const chat = name === '' ? undefined : await readChat(name).catch(() => undefined);
  if (name !== '' && chat === undefined) return;
  if (!canSend(name)) return;
  const isAlone = name === '' || (await mayAsk(name));
  // Once more: a second press of the key may have come first.
  if (!canSend(name)) return;
  if (!isAlone) return toast(t('chat.editWaits'));
  const parts = takeParts(name);
  if (onSend === undefined) ask(chat, parts);
  else onSend(parts);
}

/** Says why not, where that is not to be seen. */
function canSend(name: string): boolean {
  // As it is now, which may be a key press later than what is shown.
  const { streams, drafts } = app.get();
  const { text, attachments } = drafts[name] ?? emptyDraft;
  if (isTaking(attachments) || isNothing(text, attachments)) return false;
  // It may be on another branch, where it cannot be seen, or another tab has just asked.
  const isRunning = runningIn(streams, name) !== undefined;
  if (isRunning) toast(t('chat.editWaits'));
  return !isRunning && !sayFailed(attachments);
}
