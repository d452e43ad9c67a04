import { choosingCommands } from './choosing.ts';
import type { Command } from './command.ts';
import { keepingCommands } from './keeping.ts';
import { isAppleKeyboard, isOfInputMethod, isPressed } from './keys.ts';
import { settingsCommands } from './settings.ts';
import { shellCommands } from './shell.ts';

/** All commands of the page: one list a file, one line a list. */
export const commands: readonly Command[] = [
  ...shellCommands,
  ...choosingCommands,
  ...keepingCommands,
  ...settingsCommands,
];

/** Whether it can be run now; a command without a condition always can. */
export function isPossible(command: Command): boolean {
  return command.when?.() !== false;
}

/** Lets the keyboard run commands. */
export function listenToKeys(): void {
  const isApple = isAppleKeyboard();
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) return;
    const command = commands.find(({ keys }) => keys !== undefined && isPressed(keys, event, isApple));
    if (command === undefined || !isPossible(command)) return;
    event.preventDefault();
    command.run('');
  };
  document.addEventListener('keydown', onKey);
  // Before anybody else hears of them, so that nobody else has to think of it.
  const withhold = (event: KeyboardEvent): void => {
    if (isOfInputMethod(event)) event.stopImmediatePropagation();
  };
  addEventListener('keydown', withhold, { capture: true });
}
