import type { ComponentChildren } from 'preact';
import { t } from '../i18n/index.ts';
import { app } from '../state/app.ts';
import { useApp } from '../state/use.ts';
import { IconButton } from './IconButton.tsx';

export interface ScreenHeadProps {
  readonly title: string;
  /** What can be done on the screen. */
  readonly children?: ComponentChildren;
}

/** The bar over a screen other than the conversation: its name, and the way back to the sidebar while that is hidden. */
export function ScreenHead({ title, children }: ScreenHeadProps) {
  const isOpen = useApp((state) => state.settings.sidebar);
  return (
    <header class="top-bar">
      {!isOpen && (
        <IconButton
          icon="sidebar"
          label={t('shell.openSidebar')}
          onClick={() => app.dispatch({ type: 'settings/changed', change: { sidebar: true } })}
        />
      )}
      <h1 class="screen-title" dir="auto">
        {title}
      </h1>
      <span class="top-bar-space" />
      {children}
    </header>
  );
}
