import { t } from '../i18n/index.ts';
import { commands, isPossible } from './index.ts';

/** Something to be had by `/name` in the field for messages. */
export interface SlashItem {
  readonly name: string;
  readonly title: string;
  readonly takesArgument: boolean;
  /** Returns what shall stand in the field then; nothing: it is emptied. */
  readonly run: (argument: string) => string | undefined;
}

type Source = () => readonly SlashItem[];

/** Commands first; screens add what they have, prompts of a library for example, with `addSlashSource`. */
const sources: Source[] = [commandItems];

export function addSlashSource(source: Source): void {
  sources.push(source);
}

/** What begins with `word`; all of it once an argument is there, so that nothing but the whole name counts. */
export function slashItems(word: string, isWhole: boolean): readonly SlashItem[] {
  const items = sources.flatMap((source) => source());
  if (isWhole) return items.filter(({ name, takesArgument }) => name === word && takesArgument);
  return items.filter(({ name }) => name.startsWith(word)).slice(0, 12);
}

function commandItems(): readonly SlashItem[] {
  return commands.flatMap((command): SlashItem[] => {
    if (command.slash === undefined || !isPossible(command)) return [];
    return [
      {
        name: command.slash,
        title: t(command.title),
        takesArgument: command.argument !== undefined,
        run: (argument) => {
          command.run(argument);
          return undefined;
        },
      },
    ];
  });
}
