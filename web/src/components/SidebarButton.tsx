import { t } from '../i18n/index.ts';
import { app } from '../state/app.ts';
import { useApp } from '../state/use.ts';
import { IconButton } from './IconButton.tsx';

/** Where the sidebar lies over the page instead of beside it. */
export const NARROW = '(max-width: 800px)';

/** Shows or hides the sidebar by one of two buttons, of which the other takes over the place and the focus. */
export function showSidebar(sidebar: boolean): void {
  app.dispatch({ type: 'settings/changed', change: { sidebar } });
  // Once it is drawn.
  setTimeout(() => document.querySelector<HTMLElement>(sidebar ? '#close-sidebar' : '#open-sidebar')?.focus());
}

/** The way back to the sidebar, while that is hidden. */
export function SidebarButton() {
  const isOpen = useApp((state) => state.settings.sidebar);
  if (isOpen) return null;
  return (
    <IconButton icon="sidebar" id="open-sidebar" label={t('shell.openSidebar')} onClick={() => showSidebar(true)} />
  );
}
