import type { ImportedChat } from '../imported.ts';
import type { Loose } from '../lenient.ts';

/** The way one program writes down its chats. */
export interface Form {
  /** The program's name, as people know it. */
  readonly name: string;
  /** Whether this is a chat of that program. */
  fits(entry: Loose): boolean;
  read(entry: Loose): ImportedChat;
}
