import type { Message } from './chat.ts';

/** The text of the last message of the user; empty when there is none. */
export function lastUserText(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'user');
  return (last?.content ?? [])
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('\n')
    .trim();
}
