import type { CallScope } from '../core/call.ts';
import type { EmbeddingInput, Embeddings, EmbeddingUsage } from '../core/embedding.ts';
import type { Asked, Performed } from '../routing/router.ts';
import type { Deps } from './deps.ts';
import { type Ask, perform } from './perform.ts';

/** Vectors, and what they cost. */
export type Counted = Embeddings & { readonly usage: EmbeddingUsage };

/** Has inputs turned into vectors, and notes for the statistics what that cost: by an estimate where the upstream does not count. */
export async function performEmbedding(
  deps: Deps,
  asked: Asked,
  call: CallScope,
  inputs: readonly EmbeddingInput[],
  ask: Ask<'embed', Embeddings>,
): Promise<Performed<Counted>> {
  const answered = await perform(deps, asked, 'embed', call, ask);
  const value = counted(answered.value, inputs);
  deps.router.spent(answered.target, { ...value.usage, completionTokens: 0 }, call);
  return { ...answered, value };
}

function counted(found: Embeddings, inputs: readonly EmbeddingInput[]): Counted {
  if (found.usage !== undefined) return { ...found, usage: found.usage };
  // Whose bytes say nothing of tokens are written anew.
  const { bytes: _, written: __, ...said } = found;
  const tokens = inputs.reduce((sum, input) => sum + tokensOf(input), 0);
  return { ...said, usage: { promptTokens: tokens, totalTokens: tokens, estimated: true } };
}

function tokensOf(input: EmbeddingInput): number {
  if (typeof input !== 'string') return input.length;
  return Math.max(input === '' ? 0 : 1, Math.round(Buffer.byteLength(input) / 4));
}
