import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { editQuestion } from '../../actions/answer.ts';
import { deleteMessage } from '../../actions/messages.ts';
import { copy } from '../../components/copy.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { t } from '../../i18n/index.ts';
import { type Message, textOf } from '../../state/model.ts';
import { runningIn } from '../../state/streams.ts';
import { useApp } from '../../state/use.ts';
import { RememberButton } from '../memory/RememberButton.tsx';
import { Editor } from './Editor.tsx';
import { FileChips } from './FileChips.tsx';
import { FoldedText } from './FoldedText.tsx';

/** What the person wrote. */
export function Question({ message, branches }: { readonly message: Message; readonly branches: ComponentChildren }) {
  const [isEditing, setEditing] = useState(false);
  const text = textOf(message);
  const files = message.parts.filter((part) => part.type === 'file');
  const chips = files.length > 0 && <FileChips files={files} />;
  if (isEditing) {
    return (
      <QuestionEditor message={message} close={() => setEditing(false)}>
        {chips}
      </QuestionEditor>
    );
  }
  return (
    <>
      {chips}
      {text !== '' && <FoldedText text={text} />}
      <footer class="message-foot">
        {branches}
        <span class="message-actions">
          {text !== '' && <IconButton icon="copy" label={t('chat.copy')} onClick={() => void copy(text)} />}
          <IconButton icon="edit" class="edit" label={t('chat.edit')} onClick={() => setEditing(true)} />
          <IconButton icon="trash" label={t('chat.deleteMessage')} onClick={() => deleteMessage(message)} />
          {text !== '' && <RememberButton chat={message.chat} text={text} />}
        </span>
      </footer>
    </>
  );
}

interface QuestionEditorProps {
  readonly message: Message;
  /** Its files, which go along. */
  readonly children: ComponentChildren;
  readonly close: () => void;
}

function QuestionEditor({ message, children, close }: QuestionEditorProps) {
  const enterSends = useApp((state) => state.settings.enterSends);
  const isRunning = useApp((state) => runningIn(state.streams, message.chat) !== undefined);
  const send = (text: string): void => {
    const files = message.parts.filter((part) => part.type === 'file');
    if (text === '' && files.length === 0) return;
    close();
    editQuestion(message, text === '' ? files : [...files, { type: 'text', text }]);
  };
  return (
    <Editor
      label={t('chat.edit')}
      text={textOf(message)}
      action={t('composer.send')}
      enterSends={enterSends}
      wait={isRunning ? t('chat.editWaits') : undefined}
      onDone={send}
      close={close}
    >
      {children}
    </Editor>
  );
}
