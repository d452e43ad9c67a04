import type { MediaPart, Message, Part } from '../../core/chat.ts';

type TextMessage = Extract<Message, { role: 'tool' | 'assistant' }>;

/**
 * Media that tools or the model itself gave go into the user's next words: such messages hold text only
 * (https://platform.openai.com/docs/api-reference/chat/create), and nothing may stand between a call and its results.
 */
export function withShownMedia(messages: readonly Message[]): readonly Message[] {
  if (!messages.some((message) => holdsText(message) && message.content.some(isMedia))) return messages;
  const told: Message[] = [];
  let shown: readonly Part[] = [];
  for (const message of messages) {
    if (holdsText(message)) {
      if (message.role === 'assistant' && shown.length > 0) {
        told.push({ role: 'user', content: shown });
        shown = [];
      }
      const media = message.content.filter(isMedia);
      if (media.length > 0) shown = [...shown, captionOf(message), ...media];
      told.push(media.length === 0 ? message : { ...message, content: withoutMedia(message.content) });
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

function withoutMedia(content: readonly Part[]): readonly Part[] {
  const rest = content.filter((part) => !isMedia(part));
  return rest.length === 0 ? [{ type: 'text', text: 'It is in the next message of the user.' }] : rest;
}

function captionOf(message: TextMessage): Part {
  const text = message.role === 'tool' ? `Of the result of ${message.toolCallId}:` : 'Of your answer:';
  return { type: 'text', text };
}

function holdsText(message: Message): message is TextMessage {
  return message.role === 'tool' || message.role === 'assistant';
}

function isMedia(part: Part): part is MediaPart {
  return part.type === 'media';
}
