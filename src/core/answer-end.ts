import { CallPieces } from './call-pieces.ts';
import type { Conversation } from './chat.ts';
import type { Chunk, Source, Usage } from './chunk.ts';
import { unreachable } from './errors.ts';

/** What of an answer is whole only at its end. */
export class AnswerEnd {
  readonly calls = new CallPieces();
  readonly sources: Source[] = [];
  usage: Usage | undefined;
  conversation: Conversation | undefined;

  add(chunk: Extract<Chunk, { type: 'tool_call' | 'source' | 'usage' | 'conversation' }>): void {
    switch (chunk.type) {
      case 'tool_call':
        this.calls.add(chunk.tool_call);
        break;
      case 'source':
        this.sources.push(chunk.source);
        break;
      case 'usage':
        this.usage = chunk.usage;
        break;
      case 'conversation':
        this.conversation = { ...this.conversation, ...chunk.conversation };
        break;
      default:
        unreachable(chunk);
    }
  }
}
