import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { addFiles, removeAttachment, resend } from '../../actions/attachments.ts';
import { isSend, onTyping } from '../../commands/keys.ts';
import { AttachButton } from '../../components/AttachButton.tsx';
import { hasScreenKeyboard } from '../../components/keep-focus.ts';
import { useEnterSends } from '../../components/use-enter-sends.ts';
import { takePasted, usePageDrop } from '../../components/use-file-drop.ts';
import { directionOf } from '../../i18n/direction.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { emptyDraft, isTaking } from '../../state/drafts.ts';
import type { Part } from '../../state/model.ts';
import { useApp } from '../../state/use.ts';
import { MemoryToggle } from '../memory/MemoryToggle.tsx';
import { Attachments } from './Attachments.tsx';
import { SearchToggle } from './SearchToggle.tsx';
import { SendButton } from './SendButton.tsx';
import { SlashMenu } from './SlashMenu.tsx';
import { isNothing, send } from './send.ts';
import { VoiceButton } from './VoiceButton.tsx';

export interface ComposerProps {
  /** The name of the draft: the chat's id, or empty for a new one. */
  readonly draft: string;
  /** Instead of asking in that chat. */
  readonly onSend?: (parts: readonly Part[]) => void;
}

/** Where the next message is written. */
export function Composer({ draft: name, onSend }: ComposerProps) {
  const draft = useApp((state) => state.drafts[name] ?? emptyDraft);
  const enterSends = useEnterSends();
  const field = useRef<HTMLTextAreaElement>(null);
  const isBusy = isTaking(draft.attachments);
  const isEmpty = isNothing(draft.text, draft.attachments);

  const setText = (text: string): void => app.dispatch({ type: 'drafts/text', chat: name, text });
  useLayoutEffect(() => {
    if (field.current !== null) fit(field.current);
  }, [draft.text]);
  useEffect(() => onTyping(() => field.current?.focus()), []);
  // At once: later it would take the focus from where somebody has gone meanwhile.
  useLayoutEffect(() => {
    if (!hasScreenKeyboard()) field.current?.focus();
  }, []);

  const submit = (): Promise<void> => send(name, onSend);
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowUp' && isEmpty && draft.text === '' && !event.shiftKey) editLast(event);
    if (event.defaultPrevented || !isSend(event, enterSends)) return;
    event.preventDefault();
    void submit();
  };
  const take = (files: readonly File[]): void => addFiles(name, files);
  const isOver = usePageDrop(take);

  return (
    <form
      class={`composer ${isOver ? 'is-over' : ''}`}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {isOver && (
        <p class="drop-veil" role="status">
          {t('composer.drop')}
        </p>
      )}
      <SlashMenu field={field} text={draft.text} setText={setText} />
      <Attachments
        id="attached"
        attachments={draft.attachments}
        remove={(id) => removeAttachment(name, id)}
        resend={(attachment) => resend(name, attachment)}
      />
      <label class="hidden" for="prompt">
        {t('composer.message')}
      </label>
      <textarea
        ref={field}
        id="prompt"
        rows={1}
        dir={directionOf(draft.text)}
        placeholder={t('composer.placeholder')}
        autocomplete="off"
        enterkeyhint={enterSends ? 'send' : 'enter'}
        value={draft.text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKey}
        onPaste={(event) => takePasted(event, take)}
      />
      <div class="composer-row">
        <AttachButton id="attach" fieldId="files" take={take} />
        <SearchToggle />
        <MemoryToggle chat={name} />
        <span class="composer-space" />
        <VoiceButton text={draft.text} setText={setText} />
        <SendButton chat={name} isDisabled={isEmpty || isBusy} />
      </div>
    </form>
  );
}

/** The last question is there to be written anew. */
function editLast(event: KeyboardEvent): void {
  const edit = [...document.querySelectorAll<HTMLElement>('.question .edit')].at(-1);
  if (edit === undefined) return;
  event.preventDefault();
  edit.click();
}

/** Makes the field as high as its text; the style sheet has the limit. Browsers that do so themselves are left alone. */
function fit(field: HTMLTextAreaElement): void {
  if (CSS.supports('field-sizing', 'content')) return;
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight}px`;
}
