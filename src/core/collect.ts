import type { Conversation, ToolCall } from './chat.ts';
import type { Batch, FinishReason, MediaRef, Usage } from './chunk.ts';
import { unreachable } from './errors.ts';

/** A whole answer: the fold of its chunks. */
export interface Collected {
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly media: readonly MediaRef[];
  readonly conversation: Conversation | undefined;
  readonly usage: Usage | undefined;
  readonly finish: FinishReason | undefined;
}

/** Folds chunks into the whole answer. Throws what the chunks throw. */
export async function collect(chunks: AsyncIterable<Batch>): Promise<Collected> {
  let content = '';
  let reasoning = '';
  let conversation: Conversation | undefined;
  let usage: Usage | undefined;
  let finish: FinishReason | undefined;
  const media: MediaRef[] = [];
  const calls = new Map<number, { id: string; name: string; arguments: string }>();
  for await (const batch of chunks) {
    for (const chunk of batch) {
      switch (chunk.type) {
        case 'content':
          content += chunk.content;
          break;
        case 'reasoning':
          reasoning += chunk.reasoning;
          break;
        case 'tool_call': {
          const { index, id, name, arguments: fragment } = chunk.tool_call;
          const call = calls.get(index) ?? { id: '', name: '', arguments: '' };
          if (id !== undefined) call.id = id;
          if (name !== undefined) call.name = name;
          call.arguments += fragment;
          calls.set(index, call);
          break;
        }
        case 'media':
          media.push(chunk.media);
          break;
        case 'conversation':
          conversation = { ...conversation, ...chunk.conversation };
          break;
        case 'usage':
          usage = chunk.usage;
          break;
        case 'finish':
          finish = chunk.finish;
          break;
        case 'provider':
        case 'parameters':
        case 'preview':
        case 'suggestions':
        case 'title':
        case 'log':
        case 'auth':
        case 'error':
          break;
        default:
          unreachable(chunk);
      }
    }
  }
  const toolCalls = [...calls].sort(([a], [b]) => a - b).map(([, call]) => call);
  return { content, reasoning, toolCalls, media, conversation, usage, finish };
}
