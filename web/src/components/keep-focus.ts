import { focusFirst } from './focus.ts';

/** What has the focus, and where that stands: enough to find what has taken its place when it is gone. */
interface Held {
  readonly element: HTMLElement;
  readonly label: string;
  /** The form in its row: not one that the whole list is in. */
  readonly form: Element | null;
  /** The row of a list, or the message, that it is part of. */
  readonly row: Element | null;
  readonly list: Element | null;
  readonly index: number;
  /** Where the row leads to, and the part of the page with all lists in which it may come to stand. */
  readonly address: string | null | undefined;
  readonly area: Element | null;
  /** Its place in the row, counted from the end: the fields and buttons there come and go at the begin. */
  readonly fromEnd: number;
}

/** Where writing is likely done on the screen. Without any pointer there is a keyboard, and nothing to press with. */
export const SCREEN_KEYBOARD = '(pointer: coarse)';

const FOCUSABLE = ':is(a[href], button, input, select, textarea, summary):not(:disabled, [tabindex="-1"])';

/**
 * Much that is pressed is gone with what it does: a row, a message, a button. Browsers leave the focus at the top of the page
 * then, far from where one was. This puts it to what came in its place: the same button there, or that of the neighbour, or
 * where messages are written. And back to a button that was off for a while.
 */
export function keepFocus(root: HTMLElement): void {
  let held: Held | undefined;
  let before: Held | undefined;
  let wasOff: HTMLElement | undefined;
  root.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    // Within a form one stays with what opened it.
    const next = heldBy(target);
    if (held?.form == null || held.form !== next.form) before = held;
    held = next;
  });
  const observer = new MutationObserver(() => {
    if (held === undefined) return;
    // Noted at once: what is off lets go of the focus a moment later.
    const isOff = held.element.matches(':disabled');
    const isBack = !isOff && wasOff === held.element;
    wasOff = isOff ? held.element : undefined;
    if (document.activeElement !== document.body) return;
    if (held.element.isConnected) {
      if (isBack) held.element.focus({ preventScroll: true });
      return;
    }
    for (const way of waysFrom(held, before)) {
      way?.focus({ preventScroll: true });
      if (document.activeElement !== document.body) return;
    }
    focusFirst(document.querySelector('dialog[open]'));
  });
  observer.observe(root, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}

/** Puts the focus into a field, unless that would bring up a keyboard on the screen. */
export function focusField(selector: string): void {
  if (!hasScreenKeyboard()) document.querySelector<HTMLElement>(selector)?.focus();
}

/** Whether writing is likely done on the screen. */
export function hasScreenKeyboard(): boolean {
  return matchMedia(SCREEN_KEYBOARD).matches;
}

function heldBy(element: HTMLElement): Held {
  const row = element.closest('li, .message');
  const list = row?.parentElement ?? null;
  const form = element.closest('form');
  return {
    element,
    label: labelOf(element),
    form: row?.contains(form) ? form : null,
    row,
    list,
    index: row === null || list === null ? -1 : [...list.children].indexOf(row),
    address: row?.querySelector(':scope > a')?.getAttribute('href'),
    area: element.closest('nav, main'),
    fromEnd: row === null ? -1 : focusableIn(row).reverse().indexOf(element),
  };
}

function* waysFrom(held: Held, before: Held | undefined): Generator<HTMLElement | null | undefined> {
  const { list, index } = held;
  // The way back to the sidebar is there on each screen, and while one comes.
  if (held.element.id !== '') yield document.getElementById(held.element.id);
  const row = held.row?.isConnected
    ? held.row
    : (movedRow(held) ?? (list?.isConnected ? list.children[Math.min(index, list.children.length - 1)] : null));
  if (row != null) {
    const all = focusableIn(row);
    // A field for writing anew goes back to the button that opened it, and in lists all that is in a form with it: what stands
    // last in the row then may be what deletes it.
    if (held.element.matches('input, textarea') || (held.form !== null && row.matches('li'))) {
      if (before?.element.isConnected) yield before.element;
      yield all.find((each) => labelOf(each) === before?.label);
    }
    yield all.find((each) => labelOf(each) === held.label);
    if (row.matches('li')) yield all.reverse()[held.fromEnd] ?? all[0];
    else if (held.element.matches('.branches *'))
      yield row.querySelector<HTMLElement>('.branches button:not(:disabled)');
  }
  if (!hasScreenKeyboard()) yield document.querySelector<HTMLElement>('#prompt');
  yield document.querySelector<HTMLElement>('#scroll');
  yield document.querySelector<HTMLElement>('main');
}

/** The row for the same thing in another list, as that of a chat which has been pinned. */
function movedRow({ address, area }: Held): Element | null | undefined {
  if (address == null || !area?.isConnected) return undefined;
  return area.querySelector(`li:has(> a[href="${CSS.escape(address)}"])`);
}

function focusableIn(row: Element): HTMLElement[] {
  return [...row.querySelectorAll<HTMLElement>(FOCUSABLE)];
}

function labelOf(element: HTMLElement): string {
  return element.getAttribute('aria-label') ?? element.textContent ?? '';
}
