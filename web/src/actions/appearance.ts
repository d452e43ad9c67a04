import { app } from '../state/app.ts';

/** Puts on the page what the settings say about its looks: theme, direction of writing, motion. */
export function applyAppearance(): void {
  const { theme, direction, motion } = app.get().settings;
  const { documentElement: page } = document;
  set(page, 'theme', theme === 'system' ? undefined : theme);
  set(page, 'motion', motion === 'reduced' ? motion : undefined);
  // None of the page's own languages is written from right to left.
  const dir = direction === 'auto' ? 'ltr' : direction;
  if (page.dir !== dir) page.dir = dir;
}

function set(page: HTMLElement, name: 'theme' | 'motion', value: string | undefined): void {
  if (page.dataset[name] === value) return;
  if (value === undefined) delete page.dataset[name];
  else page.dataset[name] = value;
}
