import { t } from '../i18n/index.ts';

/** Short words at the edge of the page that go away by themselves. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo?: () => void;
}

interface ToastOptions {
  /** Offers to take back what was just done. */
  readonly undo?: () => void;
}

const SHOWN_MS = 4_000;
/** There has to be time to read, to decide and to get there. */
const UNDO_MS = 10_000;

let toasts: readonly Toast[] = [];
let count = 0;
const listeners = new Set<() => void>();

/** Shows `text`, once for all times that it is said at present; with `undo`, for longer and with a button. */
export function toast(text: string, { undo }: ToastOptions = {}): void {
  count += 1;
  const id = count;
  const others = toasts.filter((each) => each.text !== text || each.undo !== undefined);
  set([...others.slice(-2), { id, text, ...(undo === undefined ? {} : { undo }) }]);
  setTimeout(() => dismiss(id), undo === undefined ? SHOWN_MS : UNDO_MS);
}

/** When the browser refuses. */
export function sayNotKept(): void {
  toast(t('shell.notKept'));
}

/** Takes one away, if it is still shown. */
export function dismiss(id: number): void {
  if (toasts.some((each) => each.id === id)) set(toasts.filter((each) => each.id !== id));
}

/** The oldest first; a new list whenever one comes or goes. */
export function shownToasts(): readonly Toast[] {
  return toasts;
}

/** Returns the way to end it. */
export function onToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: readonly Toast[]): void {
  toasts = next;
  tellToasts();
}

/** Lets all places look anew at what is theirs to show. */
export function tellToasts(): void {
  for (const listener of listeners) listener();
}
