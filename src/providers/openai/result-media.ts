import type { MediaPart, Message, Part } from '../../core/chat.ts';

/**
 * Media that tools gave back go into the user's next words: a `tool` message holds text only
 * (https://platform.openai.com/docs/api-reference/chat/create), and nothing may stand between a call and its results.
 */
export function withoutResultMedia(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(({ role, content }) => role === 'tool' && content.some(isMedia))) return messages;
  const told: Message[] = [];
  let shown: readonly Part[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      const media = message.content.filter(isMedia);
      if (media.length > 0) shown = [...shown, caption(message.toolCallId), ...media];
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
  return rest.length === 0 ? [{ type: 'text', text: 'The result is in the next message of the user.' }] : rest;
}

function caption(toolCallId: string): Part {
  return { type: 'text', text: `Of the result of ${toolCallId}:` };
}

function isMedia(part: Part): part is MediaPart {
  return part.type === 'media';
}
