import type { Message, Part } from '../core/chat.ts';

type TextMessage = Extract<Message, { role: 'tool' | 'assistant' }>;
type IsShown = (part: Part, role: TextMessage['role']) => boolean;

/**
 * Media that tools or the model itself gave go into the user's next words, where an upstream takes them from users only; `isShown`: which.
 * Nothing may stand between a call and its results.
 */
export function withShownMedia(messages: readonly Message[], isShown: IsShown = isMedia): readonly Message[] {
  const isMoved =
    ({ role }: TextMessage) =>
    (part: Part) =>
      isShown(part, role);
  if (!messages.some((message) => holdsText(message) && message.content.some(isMoved(message)))) return messages;
  const told: Message[] = [];
  let shown: readonly Part[] = [];
  for (const message of messages) {
    if (holdsText(message)) {
      if (message.role === 'assistant' && shown.length > 0) {
        told.push({ role: 'user', content: shown });
        shown = [];
      }
      const media = message.content.filter(isMoved(message));
      if (media.length > 0) shown = [...shown, captionOf(message), ...media];
      told.push(media.length === 0 ? message : { ...message, content: without(media, message.content) });
    } else if (message.role === 'user' && shown.length > 0) {
      told.push({ ...message, content: [...shown, ...message.content] });
      shown = [];
    } else {
      if (shown.length > 0) told.push({ role: 'user', content: shown });
      shown = [];
      told.push(message);
    }
  }
  if (shown.length > 0) told.push({ role: 'user', content: shown });
  return told;
}

function without(media: readonly Part[], content: readonly Part[]): readonly Part[] {
  const rest = content.filter((part) => !media.includes(part));
  return rest.length === 0 ? [{ type: 'text', text: 'It is in the next message of the user.' }] : rest;
}

function captionOf(message: TextMessage): Part {
  const text = message.role === 'tool' ? `Of the result of ${message.toolCallId}:` : 'Of your answer:';
  return { type: 'text', text };
}

function holdsText(message: Message): message is TextMessage {
  return message.role === 'tool' || message.role === 'assistant';
}

function isMedia(part: Part): boolean {
  return part.type === 'media';
}
