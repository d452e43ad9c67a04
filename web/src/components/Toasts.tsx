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
  useLayoutEffect(() => (isShown && node.current !== null ? standAboveField(node.current) : undefined), [isShown]);
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

/**
 * Keeps them above the field for messages: with each picture, since that grows, and is another one in another chat. (By an anchor of
 * CSS every look at the layout of a long chat would take as long as all of it.) Returns the way to end it.
 */
function standAboveField(area: HTMLElement): (() => void) | undefined {
  if (area.closest('dialog, .sidebar') !== null) return undefined;
  let frame = 0;
  const place = (): void => {
    const top = document.querySelector('.composer')?.getBoundingClientRect().top;
    const bottom = top === undefined ? '' : `calc(${innerHeight - top}px + var(--space-2))`;
    if (area.style.insetBlockEnd !== bottom) area.style.insetBlockEnd = bottom;
    frame = requestAnimationFrame(place);
  };
  place();
  return () => {
    cancelAnimationFrame(frame);
    area.style.insetBlockEnd = '';
  };
}
