import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isSend } from '../../commands/keys.ts';
import { AttachButton } from '../../components/AttachButton.tsx';
import { CancelButton } from '../../components/CancelButton.tsx';
import { toast } from '../../components/toast.ts';
import type { KeptDraft } from '../../components/use-draft.ts';
import { takePasted, useFileDrop } from '../../components/use-file-drop.ts';
import { directionOf } from '../../i18n/direction.ts';
import { t } from '../../i18n/index.ts';

export interface EditorProps {
  /** Of the field. */
  readonly label: string;
  readonly draft: KeptDraft<string>;
  /** What the button says. */
  readonly action: string;
  /** Enter does it, else Ctrl or Cmd with Enter. */
  readonly enterSends: boolean;
  /** Why it has to wait, if it has. */
  readonly wait?: string | undefined;
  /** Whether something has to be over first, which can be seen. */
  readonly isBusy?: boolean;
  /** Takes files that are pasted, dropped or chosen, where some may go along. */
  readonly takeFiles?: (files: readonly File[]) => void;
  /** What goes along. */
  readonly children?: ComponentChildren;
  readonly onDone: (text: string) => void;
  readonly close: () => void;
}

/** The text of a message to be written anew. Escape leaves it as it was, and what was written for the next time; Cancel forgets that. */
export function Editor({ label, draft, action, ...rest }: EditorProps) {
  const { enterSends, wait, isBusy = false, takeFiles, children, onDone, close } = rest;
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(draft.value.length, draft.value.length);
  }, []);
  const mustWait = wait !== undefined || isBusy;
  const { isOver, handlers } = useFileDrop((files) => takeFiles?.(files));
  const finish = (): void => {
    if (!mustWait) onDone(field.current?.value.trim() ?? '');
  };
  return (
    <form
      class={`editor ${isOver ? 'is-over' : ''}`}
      {...(takeFiles === undefined ? {} : handlers)}
      onSubmit={(event) => {
        event.preventDefault();
        finish();
      }}
    >
      {children}
      <textarea
        ref={field}
        class="grows"
        dir={directionOf(draft.value)}
        rows={2}
        aria-label={label}
        value={draft.value}
        onInput={(event) => draft.set(event.currentTarget.value)}
        onPaste={(event) => takePasted(event, takeFiles ?? refuseFiles)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') close();
          else if (isSend(event, enterSends)) finish();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <div class="row-end">
        {takeFiles !== undefined && <AttachButton take={takeFiles} />}
        <span class="composer-space" />
        {wait !== undefined && (
          <span class="hint" role="status">
            {wait}
          </span>
        )}
        <CancelButton draft={draft} close={close} />
        <button type="submit" class="button is-primary" disabled={mustWait}>
          {action}
        </button>
      </div>
    </form>
  );
}

function refuseFiles(): void {
  toast(t('composer.noFiles'));
}
