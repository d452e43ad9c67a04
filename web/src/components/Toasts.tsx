import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n/index.ts';
import { focusNextRow } from './focus.ts';
import { IconButton } from './IconButton.tsx';
import { dismiss, onToasts, shownToasts, type Toast, tellToasts } from './toast.ts';

/** Where they can be shown: the page, and what lies over it, the uppermost last. */
const places: object[] = [];

/** Shown in the uppermost window or sidebar, since nothing outside of it can be pressed, or else at the edge of the page. */
export function Toasts() {
  const place = useRef({});
  const node = useRef<HTMLDivElement>(null);
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  useLayoutEffect(() => {
    places.push(place.current);
    const end = onToasts(() => setToasts(places.at(-1) === place.current ? shownToasts() : []));
    tellToasts();
    return () => {
      places.splice(places.indexOf(place.current), 1);
      end();
      tellToasts();
    };
  }, []);
  const isShown = toasts.length > 0;
  useLayoutEffect(() => (isShown && node.current !== null ? standClear(node.current) : undefined), [isShown]);
  return (
    <div ref={node} class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, undo }) => (
        <div key={id} class="toast">
          <span>{text}</span>
          {undo !== undefined && (
            <button
              type="button"
              class="link-button"
              onClick={() => {
                dismiss(id);
                focusNextRow();
                undo();
              }}
            >
              {t('shell.undo')}
            </button>
          )}
          <IconButton icon="close" label={t('shell.close')} onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}

/** Keeps them clear of what is below them, where that does not make room by itself. Returns the way to end it. */
function standClear(area: HTMLElement): (() => void) | undefined {
  if (area.closest('.sidebar') !== null) return undefined;
  const dialog = area.closest('dialog');
  return dialog === null ? standAboveField(area) : standBelow(area, dialog);
}

/**
 * Keeps them above the field for messages: with each picture, since that grows, and is another one in another chat. (By an anchor of
 * CSS every look at the layout of a long chat would take as long as all of it.)
 */
function standAboveField(area: HTMLElement): () => void {
  const end = withEachPicture(() => {
    const top = document.querySelector('.composer')?.getBoundingClientRect().top;
    const bottom = top === undefined ? '' : `calc(${innerHeight - top}px + var(--space-2))`;
    if (area.style.insetBlockEnd !== bottom) area.style.insetBlockEnd = bottom;
  });
  return () => {
    end();
    area.style.insetBlockEnd = '';
  };
}

/** Lets a window that would reach below them leave them room. One that does not stays where it is: its buttons may be under a pointer. */
function standBelow(area: HTMLElement, dialog: HTMLElement): () => void {
  let isTall = false;
  const end = withEachPicture(() => {
    const { top } = area.getBoundingClientRect();
    isTall ||= dialog.getBoundingClientRect().bottom > top;
    const height = `${Math.ceil(innerHeight - top)}px`;
    if (!isTall || dialog.style.getPropertyValue('--toasts') === height) return;
    // Who looks at its foot goes on with that.
    const isAtEnd = dialog.scrollHeight - dialog.scrollTop - dialog.clientHeight < 1;
    dialog.style.setProperty('--toasts', height);
    if (isAtEnd) dialog.scrollTop = dialog.scrollHeight;
  });
  return () => {
    end();
    dialog.style.removeProperty('--toasts');
  };
}

/** Calls at once, and before each picture. Returns the way to end it. */
function withEachPicture(place: () => void): () => void {
  let frame = 0;
  const next = (): void => {
    place();
    frame = requestAnimationFrame(next);
  };
  next();
  return () => cancelAnimationFrame(frame);
}
