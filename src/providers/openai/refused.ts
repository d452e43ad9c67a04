import type { ChatRequest, Message } from '../../core/chat.ts';
import type { Service } from './services.ts';

/**
 * A request without what its service refuses: clients of other formats cannot know. Whoever writes OpenAI's format says what
 * is meant for this upstream.
 */
export function withoutRefused(
  request: ChatRequest,
  { refuses: refused }: Service,
  drop: (field: string) => void,
): ChatRequest {
  const { format = 'openai', sampling, messages } = request;
  if (format === 'openai' || refused === undefined) return request;
  let left = request;
  if (refused.has('top_k') && sampling.topK !== undefined) {
    const { topK: _, ...others } = sampling;
    left = { ...left, sampling: others };
    drop('top_k');
  }
  if (refused.has('reasoning_content') && messages.some(hasThoughts)) {
    left = { ...left, messages: messages.map(withoutThoughts) };
    drop('reasoning');
  }
  return left;
}

function hasThoughts({ content }: Message): boolean {
  return content.some(({ type }) => type === 'reasoning');
}

function withoutThoughts(message: Message): Message {
  if (!hasThoughts(message)) return message;
  return { ...message, content: message.content.filter(({ type }) => type !== 'reasoning') };
}
