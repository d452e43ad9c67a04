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

/** What a step makes of a request: the request as the provider gets it, and what happens to the answer's chunks. */
export interface Enriched {
  readonly request: ChatRequest;
  readonly chunks?: (chunks: AsyncIterable<Batch>) => AsyncIterable<Batch>;
}

/** What all steps together make of it. */
export interface Ready extends Required<Enriched> {
  /** As it was before any of them. */
  readonly asked: ChatRequest;
}

/** Something before or after a provider: bucket text, memory, web search, media, think tags. */
export interface Step {
  readonly name: string;
  /** @param asked the request before any step; absent: this one */
  enrich(request: ChatRequest, call: Call, asked?: ChatRequest): Enriched | Promise<Enriched>;
}
