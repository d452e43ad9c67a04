/** Something to be had by `/name` in the field for messages. */
export interface SlashItem {
  readonly name: string;
  readonly title: string;
  readonly takesArgument: boolean;
  /** What may stand behind it, to choose from while it is written. */
  readonly options?: (argument: string) => readonly SlashItem[];
  /** Returns what shall stand in the field then; nothing: it is emptied. */
  readonly run: (argument: string) => string | undefined;
}
