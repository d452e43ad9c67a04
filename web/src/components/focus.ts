/** The button that a light window belongs to, by the window. */
export const anchors = new WeakMap<Element, HTMLElement>();

const FIELDS = ':is(input, textarea, select):not([disabled], [type="file"], .hidden)';

/** Puts the focus into the first field of an element, if it has one. */
export function focusFirst(element: Element | null): void {
  element?.querySelector<HTMLElement>(FIELDS)?.focus();
}

/**
 * Notes where the focus is. Returns the way back there, or to what has the same id now, or to what opened that; if all are gone, to
 * where messages are written or to the screen: without any focus the next Tab would begin at the top of the page.
 */
export function focusBack(): () => void {
  const before = document.activeElement;
  const popover = before?.closest('[popover]');
  const anchor = popover == null ? undefined : anchors.get(popover);
  return () => {
    const again = before?.id ? document.getElementById(before.id) : null;
    const ways = [before, again, anchor, document.querySelector('#prompt'), document.querySelector('main')];
    for (const way of ways) {
      if (!(way instanceof HTMLElement) || way === document.body) continue;
      way.focus();
      if (document.activeElement === way) return;
    }
  };
}

/** As `ref` of what is to have the focus once it is there. */
export function takeFocus(node: HTMLElement | null): void {
  node?.focus();
}

/** Rows of lists, not those that are written in a message. */
const ROWS = 'main li:not(.message li)';
/** How long what is brought back may take to be there, in milliseconds. */
const COMING_MS = 5_000;

/**
 * Gives the focus to the first row that comes into a list from now on, as one that was deleted by mistake, unless somebody has
 * taken it elsewhere by then.
 */
export function focusNextRow(): void {
  const before = new Set(document.querySelectorAll(ROWS));
  const observer = new MutationObserver(() => {
    const row = [...document.querySelectorAll(ROWS)].find((each) => !before.has(each));
    if (row === undefined) return;
    end();
    if (document.activeElement?.matches('body, main, .toast *') !== false)
      row.querySelector<HTMLElement>('a[href], button:not(:disabled)')?.focus();
  });
  const timer = setTimeout(() => end(), COMING_MS);
  const end = (): void => {
    observer.disconnect();
    clearTimeout(timer);
  };
  observer.observe(document.body, { childList: true, subtree: true });
}
