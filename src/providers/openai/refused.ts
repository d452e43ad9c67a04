import type { ChatRequest } from '../../core/chat.ts';
import type { Service } from './services.ts';

/**
 * A request without what its service refuses: clients of other formats cannot know. Whoever writes OpenAI's format says what
 * is meant for this upstream. What a service refuses of messages is left to `takenMessage`.
 */
export function withoutRefused(
  request: ChatRequest,
  { refuses: refused }: Service,
  drop: (field: string) => void,
): ChatRequest {
  const { format = 'openai', sampling } = request;
  if (format === 'openai' || refused?.has('top_k') !== true || sampling.topK === undefined) return request;
  const { topK: _, ...others } = sampling;
  drop('top_k');
  return { ...request, sampling: others };
}
