import { t } from '../i18n/index.ts';
import { IconButton } from './IconButton.tsx';
import { showSidebar, useSidebar } from './sidebar.ts';

/** The way back to the sidebar, while that is hidden. */
export function SidebarButton() {
  const { isOpen } = useSidebar();
  if (isOpen) return null;
  return (
    <IconButton icon="sidebar" id="open-sidebar" label={t('shell.openSidebar')} onClick={() => showSidebar(true)} />
  );
}
