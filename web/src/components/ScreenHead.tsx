import type { ComponentChildren } from 'preact';
import { SidebarButton } from './SidebarButton.tsx';

export interface ScreenHeadProps {
  readonly title: string;
  /** What can be done on the screen. */
  readonly children?: ComponentChildren;
}

/** The bar over a screen other than the conversation: its name, and the way back to the sidebar while that is hidden. */
export function ScreenHead({ title, children }: ScreenHeadProps) {
  return (
    <header class="top-bar">
      <SidebarButton />
      <h1 class="screen-title" dir="auto">
        {title}
      </h1>
      <span class="top-bar-space" />
      {children}
    </header>
  );
}
