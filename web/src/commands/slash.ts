import { t } from '../i18n/index.ts';
import { commands, isPossible } from './index.ts';
import type { SlashItem } from './slash-item.ts';

type Source = () => readonly SlashItem[];

/** Commands first; screens add what they have, prompts of a library for example, with `addSlashSource`. */
const sources: Source[] = [commandItems];

/** Puts what a screen has behind the commands. */
export function addSlashSource(source: Source): void {
  sources.push(source);
  tellSlashItems();
}

const listeners = new Set<() => void>();

/** Says that there may be others than before. */
export function tellSlashItems(): void {
  for (const listener of listeners) listener();
}

/** Returns the way to end it. */
export function onSlashItems(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** At most so many at once. */
const MOST = 12;

/**
 * What begins with `word`, then what has it in its words. Once there is an `argument`, the whole name counts, and there is
 * what may stand behind it.
 */
export function slashItems(word: string, argument?: string): readonly SlashItem[] {
  const items = sources.flatMap((source) => source());
  if (argument !== undefined) {
    const [item] = items.filter(({ name, takesArgument }) => name === word && takesArgument);
    if (item === undefined) return [];
    const options = item.options?.(argument).slice(0, MOST) ?? [];
    return options.length > 0 ? options : [item];
  }
  const first = items.filter(({ name }) => name.startsWith(word));
  const others = items.filter(
    ({ name, title }) => !name.startsWith(word) && word.length > 1 && `${name} ${title}`.toLowerCase().includes(word),
  );
  return [...first, ...others].slice(0, MOST);
}

function commandItems(): readonly SlashItem[] {
  return commands.flatMap((command): SlashItem[] => {
    if (command.slash === undefined || !isPossible(command)) return [];
    const { options } = command;
    return [
      {
        name: command.slash,
        title: t(command.title),
        takesArgument: command.argument !== undefined,
        ...(options === undefined ? {} : { options }),
        run: (argument) => {
          command.run(argument);
          return undefined;
        },
      },
    ];
  });
}
