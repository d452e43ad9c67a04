import type { ComponentType } from 'preact';
import type { OverlayProps } from './props.ts';

/**
 * Windows over the page by name, loaded when they are first opened:
 * `app.dispatch({ type: 'overlay/opened', name: 'shortcuts' })`. Whoever adds a window adds a row.
 */
export const overlays: Readonly<Record<string, () => Promise<{ readonly default: ComponentType<OverlayProps> }>>> = {
  shortcuts: () => import('./shell/Shortcuts.tsx'),
  key: () => import('./shell/KeyDialog.tsx'),
  organise: () => import('./history/OrganiseDialog.tsx'),
  'delete-chats': () => import('./history/DeleteAllDialog.tsx'),
  share: () => import('./share/ShareDialog.tsx'),
  setup: () => import('./presets/SetupDialog.tsx'),
  prompt: () => import('./prompts/PromptDialog.tsx'),
  import: () => import('./transfer/ImportDialog.tsx'),
};
