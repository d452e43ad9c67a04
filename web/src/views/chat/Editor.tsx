import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isSend } from '../../commands/keys.ts';
import { t } from '../../i18n/index.ts';

export interface EditorProps {
  /** Of the field. */
  readonly label: string;
  readonly text: string;
  /** What the button says. */
  readonly action: string;
  /** Enter does it, else Ctrl or Cmd with Enter. */
  readonly enterSends: boolean;
  /** Why it has to wait, if it has. */
  readonly wait?: string | undefined;
  /** What stays as it is. */
  readonly children?: ComponentChildren;
  readonly onDone: (text: string) => void;
  readonly close: () => void;
}

/** The text of a message to be written anew. Escape leaves it as it was. */
export function Editor({ label, text, action, enterSends, wait, children, onDone, close }: EditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  const finish = (): void => {
    if (wait === undefined) onDone(field.current?.value.trim() ?? '');
  };
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        finish();
      }}
    >
      {children}
      <textarea
        ref={field}
        class="grows"
        dir="auto"
        rows={2}
        aria-label={label}
        defaultValue={text}
        onKeyDown={(event) => {
          if (event.key === 'Escape') close();
          else if (isSend(event, enterSends)) finish();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <div class="row-end">
        {wait !== undefined && (
          <span class="hint" role="status">
            {wait}
          </span>
        )}
        <button type="button" class="button is-quiet" onClick={close}>
          {t('shell.cancel')}
        </button>
        <button type="submit" class="button is-primary" disabled={wait !== undefined}>
          {action}
        </button>
      </div>
    </form>
  );
}
