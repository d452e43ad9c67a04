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

export function providerName(id: string): string {
  return rows.get(id)?.otelName ?? id;
}

export function operationName(operation: Operation | undefined): string {
  return OPERATIONS[operation ?? 'chat'];
}
