import type { ChatRequest, Message } from '../../core/chat.ts';

type Field = 'top_k' | 'reasoning_content';

/** What some services answer with an error, where most pass over what they do not know. By the end of their host. */
const REFUSED: readonly (readonly [host: string, fields: ReadonlySet<Field>])[] = [
  ['api.openai.com', new Set(['top_k'])],
  ['.openai.azure.com', new Set(['top_k'])],
  ['api.groq.com', new Set(['top_k', 'reasoning_content'])],
  ['api.cerebras.ai', new Set(['reasoning_content'])],
];

/**
 * A request without what its service refuses: clients of other formats cannot know. Whoever writes OpenAI's format says what
 * is meant for this upstream.
 */
export function withoutRefused(request: ChatRequest, host: string, drop: (field: string) => void): ChatRequest {
  const { format = 'openai', sampling, messages } = request;
  const refused = REFUSED.find(([end]) => host.endsWith(end))?.[1];
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
