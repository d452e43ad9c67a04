import { choosingCommands } from './choosing.ts';
import type { Command } from './command.ts';
import { keepingCommands } from './keeping.ts';
import { isAppleKeyboard, isPressed } from './keys.ts';
import { settingsCommands } from './settings.ts';
import { shellCommands } from './shell.ts';

/** All commands of the page: one list a file, one line a list. */
export const commands: readonly Command[] = [
  ...shellCommands,
  ...choosingCommands,
  ...keepingCommands,
  ...settingsCommands,
];

export function isPossible(command: Command): boolean {
  return command.when?.() !== false;
}

/** Lets the keyboard run commands. Returns the way to end it. */
export function listenToKeys(): () => void {
  const isApple = isAppleKeyboard();
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    const command = commands.find(({ keys }) => keys !== undefined && isPressed(keys, event, isApple));
    if (command === undefined || !isPossible(command)) return;
    event.preventDefault();
    command.run('');
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}
