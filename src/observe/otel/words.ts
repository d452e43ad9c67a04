import type { Operation } from '../observation.ts';

/** Names that the conventions for generative AI give to providers; all others have their own (semantic-conventions v1.37). */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['azure', 'azure.ai.openai'],
  ['bedrock', 'aws.bedrock'],
  ['gemini', 'gcp.gemini'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
]);

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
  return PROVIDERS.get(id) ?? id;
}

export function operationName(operation: Operation | undefined): string {
  return OPERATIONS[operation ?? 'chat'];
}
