import { shownChat } from '../../actions/chats.ts';
import { presets, prompts } from '../../actions/library.ts';
import { addSlashSource, tellSlashItems } from '../../commands/slash.ts';
import type { SlashItem } from '../../commands/slash-item.ts';
import { spoken } from '../../i18n/index.ts';
import { app } from '../../state/app.ts';
import { fillIn, knownValues, type Prompt, variablesOf } from '../../state/prompts.ts';

/** From now on `/name` offers the prompts of the library. */
export function offerPrompts(): void {
  addSlashSource(() => prompts.get().map(toItem));
  // Somebody may have begun to write before they were read.
  for (const library of [prompts, presets]) library.subscribe(tellSlashItems);
  prompts.load().catch(() => {});
  presets.load().catch(() => {});
}

function toItem(prompt: Prompt): SlashItem {
  return {
    name: prompt.name,
    title: prompt.title || prompt.text.slice(0, 80),
    takesArgument: false,
    run: () => textFor(prompt),
  };
}

/** The text for the field; where something has to be asked for, that happens first. */
export function textFor(prompt: Prompt): string | undefined {
  if (variablesOf(prompt.text).length === 0) return fillIn(prompt.text, knownValues(new Date(), spoken()));
  app.dispatch({ type: 'overlay/opened', name: 'prompt', about: prompt.id });
  return undefined;
}

/** Puts a text into the message field of the chat that is shown, or of the next one, behind what is being written there. */
export function putIntoField(text: string): void {
  const chat = shownChat()?.id ?? '';
  const before = app.get().drafts[chat]?.text.trimEnd() ?? '';
  app.dispatch({ type: 'drafts/text', chat, text: before === '' ? text : `${before}\n\n${text}` });
  requestAnimationFrame(() => document.querySelector<HTMLElement>('#prompt')?.focus());
}
