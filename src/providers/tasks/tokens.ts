import type { EmbeddingInput } from '../../core/embedding.ts';
import { SluiceError } from '../../core/errors.ts';

/**
 * Inputs as texts, for upstreams that take nothing else. Clients of OpenAI's embeddings (LangChain's, for one) send ids of tokens,
 * which are always those of cl100k_base, the tokenizer of all its embedding models.
 */
export async function textsOf(inputs: readonly EmbeddingInput[]): Promise<readonly string[]> {
  if (inputs.every((input) => typeof input === 'string')) return inputs as readonly string[];
  const { decode } = await import('gpt-tokenizer/encoding/cl100k_base');
  return inputs.map((input) => {
    if (typeof input === 'string') return input;
    try {
      return decode(input);
    } catch (cause) {
      throw new SluiceError('invalid_request', 'The input holds numbers that are no tokens of cl100k_base.', {
        param: 'input',
        cause,
      });
    }
  });
}
