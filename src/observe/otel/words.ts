import { rows } from '../../config/rows.ts';
import type { Operation } from '../observation.ts';

const OPERATIONS: Readonly<Record<Operation, string>> = {
  chat: 'chat',
  completion: 'text_completion',
  embedding: 'embeddings',
  image: 'image_generation',
  speech: 'speech',
  transcription: 'transcription',
  rerank: 'rerank',
  moderation: 'moderation',
  count_tokens: 'count_tokens',
};

/** What OpenTelemetry calls a provider; its own id where that has no name for it. */
export function providerName(id: string): string {
  return rows.get(id)?.otelName ?? id;
}

/** What OpenTelemetry calls an operation; undefined counts as a chat. */
export function operationName(operation: Operation | undefined): string {
  return OPERATIONS[operation ?? 'chat'];
}
