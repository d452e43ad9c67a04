import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { ask } from '../../actions/answer.ts';
import { addFiles, removeAttachment, resend, sayFailed, takeParts } from '../../actions/attachments.ts';
import { readChat } from '../../actions/chats.ts';
import { stopAll } from '../../actions/stop.ts';
import { isSend, onTyping } from '../../commands/keys.ts';
import { AttachButton } from '../../components/AttachButton.tsx';
import { Icon } from '../../components/Icon.tsx';
import { ignoreSecond } from '../../components/ignore-second.ts';
import { focusField, hasScreenKeyboard } from '../../components/keep-focus.ts';
import { toast } from '../../components/toast.ts';
import { useEnterSends } from '../../components/use-enter-sends.ts';
import { takePasted, usePageDrop } from '../../components/use-file-drop.ts';
import { directionOf } from '../../i18n/direction.ts';
import { t } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { canSearch } from '../../state/catalog.ts';
import { type Attachment, emptyDraft, isTaking } from '../../state/drafts.ts';
import type { Part } from '../../state/model.ts';
import { runningIn } from '../../state/streams.ts';
import { useApp } from '../../state/use.ts';
import { mayAsk } from '../../storage/running.ts';
import { MemoryToggle } from '../memory/MemoryToggle.tsx';
import { Attachments } from './Attachments.tsx';
import { SlashMenu } from './SlashMenu.tsx';
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
  const running = useApp((state) => runningIn(state.streams, name));
  const webSearch = useApp((state) => state.settings.webSearch);
  const searches = useApp((state) => canSearch(state.catalog));
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

  /** Says why not, where that is not to be seen. */
  const canSend = (): boolean => {
    // As it is now, which may be a key press later than what is shown.
    const { streams, drafts } = app.get();
    const { text, attachments } = drafts[name] ?? emptyDraft;
    if (isTaking(attachments) || isNothing(text, attachments)) return false;
    // It may be on another branch, where it cannot be seen, or another tab has just asked.
    const isRunning = runningIn(streams, name) !== undefined;
    if (isRunning) toast(t('chat.editWaits'));
    return !isRunning && !sayFailed(attachments);
  };
  const submit = async (): Promise<void> => {
    const chat = name === '' ? undefined : await readChat(name);
    if (name !== '' && chat === undefined) return;
    if (!canSend()) return;
    const isAlone = name === '' || (await mayAsk(name));
    // Once more: a second press of the key may have come first.
    if (!canSend()) return;
    if (!isAlone) return toast(t('chat.editWaits'));
    const parts = takeParts(name);
    if (onSend === undefined) ask(chat, parts);
    else onSend(parts);
  };
  const stopRunning = (): void => {
    stopAll(name);
    // The button is that for sending then, which waits for words.
    focusField('#prompt');
  };
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
        {searches && (
          <button
            type="button"
            id="web-search"
            class="toggle"
            aria-pressed={webSearch}
            title={t('composer.webSearch')}
            onClick={() => app.dispatch({ type: 'settings/changed', change: { webSearch: !webSearch } })}
          >
            <Icon name="globe" />
            <span>{t('composer.web')}</span>
          </button>
        )}
        <MemoryToggle chat={name} />
        <span class="composer-space" />
        <VoiceButton text={draft.text} setText={setText} />
        {/* Two buttons, not one that changes: what is pressed to stop an answer must not send what is being written. */}
        {running === undefined ? (
          <button
            key="send"
            type="submit"
            id="send"
            class="send"
            aria-label={t('composer.send')}
            title={t('composer.send')}
            disabled={isEmpty || isBusy}
            onClick={ignoreSecond}
          >
            <Icon name="send" size={18} />
          </button>
        ) : (
          <button
            key="stop"
            type="button"
            id="send"
            class="send is-stop"
            aria-label={t('chat.stop')}
            title={t('chat.stop')}
            onClick={(event) => {
              if (!ignoreSecond(event)) stopRunning();
            }}
          >
            <Icon name="stop" size={18} />
          </button>
        )}
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

function isNothing(text: string, attachments: readonly Attachment[]): boolean {
  return text.trim() === '' && attachments.every(({ phase }) => phase !== 'ready');
}

/** Makes the field as high as its text; the style sheet has the limit. Browsers that do so themselves are left alone. */
function fit(field: HTMLTextAreaElement): void {
  if (CSS.supports('field-sizing', 'content')) return;
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight}px`;
}
