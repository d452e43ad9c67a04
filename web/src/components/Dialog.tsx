import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../i18n/index.ts';
import { focusBack, focusFirst } from './focus.ts';
import { IconButton } from './IconButton.tsx';
import { onBack } from './on-back.ts';
import { Toasts } from './Toasts.tsx';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Buttons at the foot. */
  readonly actions?: ComponentChildren;
  readonly class?: string;
  /** Whether something is written in it that goes with it: then a click beside it, which may be a slip, leaves it there. */
  readonly isWritten?: boolean;
}

/** A window over the page, there while it is rendered, which begins with its first field. Escape, the cross, Back and a click beside it call `onClose`. */
export function Dialog({ title, onClose, children, actions, class: extra = '', isWritten = false }: DialogProps) {
  const node = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  const titleId = useId();
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(() => {
    const back = focusBack();
    const dialog = node.current;
    dialog?.showModal();
    focusFirst(dialog);
    const endBack = onBack(() => close.current());
    return () => {
      endBack();
      isGone.current = true;
      // While it is open nothing else takes the focus.
      dialog?.close();
      back();
    };
  }, []);
  // A click that begins in one place and ends in another, as when words are marked, counts as one on what is around both.
  const isPressedBeside = useRef(false);
  const isBeside = ({ target }: MouseEvent): boolean => target === node.current;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog, which arrives as `cancel`
    <dialog
      ref={node}
      class={`dialog ${extra}`}
      aria-labelledby={titleId}
      onMouseDown={(event) => {
        isPressedBeside.current = isBeside(event);
      }}
      onMouseUp={(event) => {
        isPressedBeside.current &&= isBeside(event);
      }}
      onClick={(event) => {
        if (isPressedBeside.current && isBeside(event) && !isWritten) onClose();
      }}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // Where nobody has touched the page since the last one, browsers close a dialog without asking.
      onClose={() => {
        if (!isGone.current) onClose();
      }}
    >
      <div class="dialog-body">
        {/* No header: beside that of the page it would be a second banner. */}
        <div class="dialog-head">
          <h2 id={titleId}>{title}</h2>
          <IconButton icon="close" label={t('shell.close')} onClick={onClose} />
        </div>
        <div class="dialog-content">{children}</div>
        {actions !== undefined && <div class="dialog-actions">{actions}</div>}
      </div>
      <Toasts />
    </dialog>
  );
}
