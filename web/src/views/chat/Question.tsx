import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { editQuestion, isAloneIn } from '../../actions/answer.ts';
import { addFiles, partsOf, removeAttachment, resend, sayFailed } from '../../actions/attachments.ts';
import { deleteMessage } from '../../actions/messages.ts';
import { copy } from '../../components/copy.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { ignoreSecond } from '../../components/ignore-second.ts';
import { type KeptDraft, useDraft } from '../../components/use-draft.ts';
import { useEnterSends } from '../../components/use-enter-sends.ts';
import { t } from '../../i18n/index.ts';
import { emptyDraft, isTaking } from '../../state/drafts.ts';
import { type FilePart, type Message, textOf } from '../../state/model.ts';
import { runningIn } from '../../state/streams.ts';
import { useApp } from '../../state/use.ts';
import { RememberButton } from '../memory/RememberButton.tsx';
import { Attachments } from './Attachments.tsx';
import { Editor } from './Editor.tsx';
import { FileChips } from './FileChips.tsx';
import { FoldedText } from './FoldedText.tsx';

/** What the person wrote. */
export function Question({ message, branches }: { readonly message: Message; readonly branches: ComponentChildren }) {
  const [isEditing, setEditing] = useState(false);
  const text = textOf(message);
  if (isEditing) return <QuestionEditor message={message} close={() => setEditing(false)} />;
  const files = filesOf(message);
  return (
    <>
      {files.length > 0 && <FileChips files={files} />}
      {text !== '' && <FoldedText text={text} />}
      <footer class="message-foot">
        {branches}
        <span class="message-actions">
          {text !== '' && <IconButton icon="copy" label={t('chat.copy')} onClick={() => void copy(text)} />}
          {/* Where the editor had its button for sending a moment ago. */}
          <IconButton
            icon="edit"
            class="edit"
            label={t('chat.edit')}
            onClick={(event) => {
              if (!ignoreSecond(event)) setEditing(true);
            }}
          />
          <IconButton
            icon="trash"
            label={t('chat.deleteMessage')}
            onClick={(event) => {
              if (!ignoreSecond(event)) deleteMessage(message);
            }}
          />
          {text !== '' && <RememberButton chat={message.chat} text={text} />}
        </span>
      </footer>
    </>
  );
}

/** Its files go along, unless they are taken out: one that is gone from the server would keep it from being answered. */
function QuestionEditor({ message, close }: { readonly message: Message; readonly close: () => void }) {
  const name = `${message.chat}/${message.id}`;
  const draft = useDraft<Anew>(name, textOf(message));
  const { text: written, without } = read(draft.value);
  const setAnew = (text: string, left: readonly string[]): void =>
    draft.set(left.length === 0 ? text : { text, without: left });
  const files = filesOf(message).filter(({ bucketId }) => !without.includes(bucketId));
  const attachments = useApp((state) => (state.drafts[name] ?? emptyDraft).attachments);
  const enterSends = useEnterSends();
  const isRunning = useApp((state) => runningIn(state.streams, message.chat) !== undefined);
  const send = async (text: string): Promise<void> => {
    const all = [...files, ...partsOf(attachments)];
    if ((text === '' && all.length === 0) || sayFailed(attachments)) return;
    if (!(await isAloneIn(message.chat))) return;
    draft.forget();
    close();
    editQuestion(message, text === '' ? all : [...all, { type: 'text', text }]);
  };
  const textDraft: KeptDraft<string> = {
    value: written,
    set: (text) => setAnew(text, without),
    forget: () => {
      for (const { id } of attachments) removeAttachment(name, id);
      draft.forget();
    },
    isWritten: draft.isWritten,
  };
  return (
    <Editor
      label={t('chat.edit')}
      draft={textDraft}
      action={t('composer.send')}
      enterSends={enterSends}
      wait={isRunning ? t('chat.editWaits') : undefined}
      isBusy={isTaking(attachments)}
      takeFiles={(chosen) => addFiles(name, chosen)}
      onDone={(text) => void send(text)}
      close={close}
    >
      {files.length > 0 && (
        <FileChips files={files} remove={({ bucketId }) => setAnew(written, [...without, bucketId])} />
      )}
      <Attachments
        attachments={attachments}
        remove={(id) => removeAttachment(name, id)}
        resend={(attachment) => resend(name, attachment)}
      />
    </Editor>
  );
}

/** What is written in place of a question: its text, and the files (buckets) that are taken out, if some are. */
type Anew = string | { readonly text: string; readonly without: readonly string[] };

function read(anew: Anew): Exclude<Anew, string> {
  return typeof anew === 'string' ? { text: anew, without: [] } : anew;
}

function filesOf({ parts }: Message): readonly FilePart[] {
  return parts.filter((part) => part.type === 'file');
}
