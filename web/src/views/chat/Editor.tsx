import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isSend } from '../../commands/keys.ts';
import { CancelButton } from '../../components/CancelButton.tsx';
import type { KeptDraft } from '../../components/use-draft.ts';
import { directionOf } from '../../i18n/direction.ts';

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
  /** What stays as it is. */
  readonly children?: ComponentChildren;
  readonly onDone: (text: string) => void;
  readonly close: () => void;
}

/** The text of a message to be written anew. Escape leaves it as it was, and what was written for the next time; Cancel forgets that. */
export function Editor({ label, draft, action, enterSends, wait, children, onDone, close }: EditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(draft.value.length, draft.value.length);
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
        dir={directionOf(draft.value)}
        rows={2}
        aria-label={label}
        value={draft.value}
        onInput={(event) => draft.set(event.currentTarget.value)}
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
        <CancelButton draft={draft} close={close} />
        <button type="submit" class="button is-primary" disabled={wait !== undefined}>
          {action}
        </button>
      </div>
    </form>
  );
}
