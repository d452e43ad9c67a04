import type { Key } from '../i18n/dictionary.ts';
import type { SlashItem } from './slash-item.ts';

/**
 * Something that can be done from the keyboard. The help sheet lists all commands, the keyboard runs those with `keys`, the
 * field for messages offers those with `slash`.
 */
export interface Command {
  readonly id: string;
  readonly title: Key;
  readonly group: 'chat' | 'input' | 'answer' | 'page';
  /** `Mod+Shift+O`; Mod is Cmd on Apple's keyboards and Ctrl on all others. */
  readonly keys?: string;
  /** Without the slash. */
  readonly slash?: string;
  /** What may stand behind the slash command, in words; without it the command takes nothing. */
  readonly argument?: Key;
  /** What may stand there, to choose from. */
  readonly options?: (argument: string) => readonly SlashItem[];
  /** Whether it can be done now. */
  readonly when?: () => boolean;
  /** `argument` is what stands behind the slash command, else empty. */
  readonly run: (argument: string) => void;
}
