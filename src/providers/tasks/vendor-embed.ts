import type { EmbeddingInput, Embeddings } from '../../core/embedding.ts';
import { SluiceError } from '../../core/errors.ts';
import { isObject } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import { inBatches } from './batches.ts';
import { decodeEmbeddings, isVector, merge } from './embed.ts';
import { needModel, postForJson, type TaskUpstream } from './post.ts';
import { cohereV2 } from './rerank.ts';
import { textsOf } from './tokens.ts';

const DEED = 'make embeddings';
/** Texts of one request, by their documents. */
const COHERE_TEXTS = 96;
const VOYAGE_TEXTS = 128;

/** Cohere's own API: the one that is like OpenAI's cannot say what the vectors are for. */
export function embedByCohere(upstream: TaskUpstream): NonNullable<Provider['embed']> {
  const { provider } = upstream;
  return async (request, call) => {
    if (request.user !== undefined) call.drop('user');
    const texts = await textsOf(request.inputs);
    const ask = async (batch: readonly string[], signal: AbortSignal): Promise<Embeddings> => {
      const body = JSON.stringify({
        // To be searched for, unless the client says otherwise: the API insists on a purpose.
        input_type: 'search_document',
        ...request.extra,
        model: needModel(request.model, provider),
        texts: batch,
        // They are few enough for numbers, which every model of theirs can write.
        embedding_types: ['float'],
        ...(request.dimensions === undefined ? {} : { output_dimension: request.dimensions }),
      });
      const sent = { deed: DEED, endpoint: '', path: cohereV2('/embed'), body };
      const { json } = await postForJson(upstream, sent, call, signal);
      return decodeCohere(json, batch.length, provider);
    };
    return merge(await inBatches(texts, COHERE_TEXTS, call, ask));
  };
}

function decodeCohere(
  { embeddings, meta }: Readonly<Record<string, unknown>>,
  count: number,
  { label }: Provider,
): Embeddings {
  const vectors = isObject(embeddings) ? embeddings['float'] : undefined;
  if (!Array.isArray(vectors) || vectors.length !== count || !vectors.every(isVector)) {
    throw new SluiceError('upstream_invalid', `${label} did not send one vector for each input.`);
  }
  const units = isObject(meta) && isObject(meta['billed_units']) ? meta['billed_units'] : {};
  const { input_tokens: tokens } = units;
  return {
    vectors,
    ...(typeof tokens === 'number' ? { usage: { promptTokens: tokens, totalTokens: tokens } } : {}),
  };
}

/** Voyage speaks OpenAI's format in words of its own. */
export function embedByVoyage(upstream: TaskUpstream): NonNullable<Provider['embed']> {
  const { provider } = upstream;
  return async (request, call) => {
    if (request.user !== undefined) call.drop('user');
    const texts = await textsOf(request.inputs);
    const ask = async (batch: readonly EmbeddingInput[], signal: AbortSignal): Promise<Embeddings> => {
      const body = JSON.stringify({
        ...request.extra,
        model: needModel(request.model, provider),
        input: batch,
        // Numbers are what it sends by itself, and a word for them it does not know.
        ...(request.encoding === 'base64' ? { encoding_format: 'base64' } : {}),
        ...(request.dimensions === undefined ? {} : { output_dimension: request.dimensions }),
      });
      const { json, bytes } = await postForJson(upstream, { deed: DEED, endpoint: '/embeddings', body }, call, signal);
      return { ...decodeEmbeddings(json, batch.length, provider), bytes };
    };
    return merge(await inBatches(texts, VOYAGE_TEXTS, call, ask));
  };
}
