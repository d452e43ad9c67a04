import type { Message } from './chat.ts';

/** The text of the last message of the user; empty when there is none. */
export function lastUserText(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'user');
  return (last?.content ?? [])
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')
    .trim();
}

/** Whether the last word is the user's own, and not a tool's result. */
export function endsWithQuestion(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  return last?.role === 'user' && last.content.some((part) => part.type === 'text' && part.text.trim() !== '');
}

/** The first characters of a text, as a text of its own: V8's slices hold on to the whole that they were cut from. */
export function beginning(text: string, characters: number): string {
  return Buffer.from(text.slice(0, characters).toWellFormed()).toString();
}
