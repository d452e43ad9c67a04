import { t } from '../i18n/index.ts';
import { app } from '../state/app.ts';
import { useApp } from '../state/use.ts';
import { IconButton } from './IconButton.tsx';

/** The way back to the sidebar, while that is hidden. */
export function SidebarButton() {
  const isOpen = useApp((state) => state.settings.sidebar);
  if (isOpen) return null;
  return (
    <IconButton
      icon="sidebar"
      label={t('shell.openSidebar')}
      onClick={() => app.dispatch({ type: 'settings/changed', change: { sidebar: true } })}
    />
  );
}
