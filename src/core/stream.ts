import type { Call } from './call.ts';
import type { ChatRequest } from './chat.ts';
import type { Batch } from './chunk.ts';

/** Chunks → bytes of a dialect. One encoder serves one answer and may keep state. */
export interface Encoder {
  readonly contentType: string;
  /** The bytes of one batch as text; empty when the dialect shows nothing of it. */
  encode(batch: Batch): string;
  /** What closes a stream, after the last batch. */
  end(): string;
}

/** Something before or after a provider: web search, bucket text, think tags, … */
export interface Step {
  readonly name: string;
  request?(request: ChatRequest, call: Call): Promise<ChatRequest>;
  chunks?(chunks: AsyncIterable<Batch>, request: ChatRequest, call: Call): AsyncIterable<Batch>;
}
