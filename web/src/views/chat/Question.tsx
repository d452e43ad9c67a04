import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { editQuestion } from '../../actions/answer.ts';
import { copy } from '../../components/copy.ts';
import { IconButton } from '../../components/IconButton.tsx';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { type Message, textOf } from '../../state/model.ts';
import { runningIn } from '../../state/streams.ts';
import { RememberButton } from '../memory/RememberButton.tsx';
import { FileChips } from './FileChips.tsx';

/** What the person wrote. */
export function Question({ message, branches }: { readonly message: Message; readonly branches: ComponentChildren }) {
  const [isEditing, setEditing] = useState(false);
  const text = textOf(message);
  const files = message.parts.filter((part) => part.type === 'file');
  if (isEditing) return <Editor message={message} text={text} close={() => setEditing(false)} />;
  return (
    <>
      {files.length > 0 && <FileChips files={files} />}
      {text !== '' && (
        <div class="bubble" dir="auto">
          {text}
        </div>
      )}
      <footer class="message-foot">
        {branches}
        <span class="message-actions">
          <IconButton icon="copy" label={t('chat.copy')} onClick={() => void copy(text)} />
          <IconButton icon="edit" label={t('chat.edit')} onClick={() => setEditing(true)} />
          {text !== '' && <RememberButton chat={message.chat} text={text} />}
        </span>
      </footer>
    </>
  );
}

interface EditorProps {
  readonly message: Message;
  readonly text: string;
  readonly close: () => void;
}

function Editor({ message, text, close }: EditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  const send = (): void => {
    const edited = field.current?.value.trim() ?? '';
    if (edited === '' || runningIn(app.get().streams, message.chat) !== undefined) return;
    const files = message.parts.filter((part) => part.type === 'file');
    close();
    editQuestion(message, [...files, { type: 'text', text: edited }]);
  };
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={field}
        class="grows"
        dir="auto"
        rows={2}
        aria-label={t('chat.edit')}
        defaultValue={text}
        onKeyDown={(event) => {
          if (event.key === 'Escape') close();
          else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) send();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <div class="row-end">
        <button type="button" class="button is-quiet" onClick={close}>
          {t('shell.cancel')}
        </button>
        <button type="submit" class="button is-primary">
          {t('composer.send')}
        </button>
      </div>
    </form>
  );
}
