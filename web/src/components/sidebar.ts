import { app } from '../state/app.ts';
import type { State } from '../state/index.ts';
import { useApp } from '../state/use.ts';
import { useMedia } from './use-media.ts';

/** Where the sidebar lies over the page instead of beside it. */
const NARROW = '(max-width: 50em)';

/** Whether the sidebar is shown, and whether it lies over the page then. */
export function useSidebar(): { readonly isOpen: boolean; readonly isNarrow: boolean } {
  const isNarrow = useMedia(NARROW);
  return { isOpen: useApp((state) => isShown(state, isNarrow)), isNarrow };
}

/** Shows or hides the sidebar by one of two buttons, of which the other takes over the place and the focus. */
export function showSidebar(isOpen: boolean): void {
  setSidebar(isOpen, matchMedia(NARROW).matches);
  // Once it is drawn.
  setTimeout(() => document.querySelector<HTMLElement>(isOpen ? '#close-sidebar' : '#open-sidebar')?.focus());
}

/** Shows or hides it from the keyboard. */
export function toggleSidebar(): void {
  const isNarrow = matchMedia(NARROW).matches;
  const isOpen = !isShown(app.get(), isNarrow);
  // Where it lies over the page it takes the focus.
  if (isNarrow) showSidebar(isOpen);
  else setSidebar(isOpen, isNarrow);
}

/** Takes the sidebar from the page that it lies over, if it does. */
export function closeDrawer(): void {
  app.dispatch({ type: 'drawer/set', drawer: 'closed' });
}

function isShown({ drawer, settings }: State, isNarrow: boolean): boolean {
  return isNarrow ? drawer === 'open' : settings.sidebar;
}

function setSidebar(isOpen: boolean, isNarrow: boolean): void {
  if (isNarrow) app.dispatch({ type: 'drawer/set', drawer: isOpen ? 'open' : 'closed' });
  else app.dispatch({ type: 'settings/changed', change: { sidebar: isOpen } });
}
