import type { ComponentType } from 'preact';
import type { IconName } from '../components/Icon.tsx';
import type { Key } from '../i18n/dictionary.ts';
import { ChatScreen } from './chat/ChatScreen.tsx';
import type { ScreenProps } from './props.ts';

/** One row of the table of screens. The address of a screen is `#/<name>`, and whatever it wants behind that. */
export interface Screen {
  readonly name: string;
  /** In the title of the window and, with `icon`, in the sidebar. */
  readonly title: Key;
  /** Screens with an icon are listed at the foot of the sidebar. */
  readonly icon?: IconName;
  /** Either the component, or the way to load it when it is first opened. */
  readonly component?: ComponentType<ScreenProps>;
  readonly load?: () => Promise<{ readonly default: ComponentType<ScreenProps> }>;
}

/** All screens; the first one is at `#/`. Whoever adds a screen adds a row. */
export const screens: readonly Screen[] = [
  { name: 'chat', title: 'shell.chat', component: ChatScreen },
  { name: 'history', title: 'history.title', load: () => import('./history/HistoryScreen.tsx') },
  {
    name: 'compare',
    title: 'compare.title',
    icon: 'columns',
    load: () => import('./compare/CompareScreen.tsx'),
  },
  { name: 'prompts', title: 'prompts.title', icon: 'library', load: () => import('./prompts/PromptsScreen.tsx') },
  { name: 'presets', title: 'presets.title', icon: 'bookmark', load: () => import('./presets/PresetsScreen.tsx') },
  { name: 'media', title: 'media.title', icon: 'image', load: () => import('./media/MediaScreen.tsx') },
  { name: 'memory', title: 'memory.title', icon: 'memory', load: () => import('./memory/MemoryScreen.tsx') },
  {
    name: 'dashboard',
    title: 'dashboard.title',
    icon: 'chart',
    load: () => import('./dashboard/DashboardScreen.tsx'),
  },
  { name: 'settings', title: 'settings.title', icon: 'settings', load: () => import('./settings/SettingsScreen.tsx') },
  { name: 'share', title: 'share.reader', load: () => import('./share/SharedScreen.tsx') },
];
