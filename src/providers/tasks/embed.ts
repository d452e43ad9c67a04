import type { EmbeddingInput, Embeddings, EmbeddingUsage, Vector } from '../../core/embedding.ts';
import { SluiceError } from '../../core/errors.ts';
import { membersOf } from '../../core/objects.ts';
import type { Provider } from '../../core/provider.ts';
import { inBatches } from './batches.ts';
import { needModel, postForJson, type TaskUpstream } from './post.ts';

/**
 * Texts of one request upstream. OpenAI takes 2,048, but its answer may be larger than we take in: as JSON numbers, 512 vectors
 * of 3,072 dimensions are 20 MB, as base64 1,024 of them 17 MB.
 */
const PER_REQUEST = { float: 512, base64: 1_024 } as const;

/** `embed` by the `/embeddings` of an upstream that speaks the OpenAI wire format. */
export function embedByRelay(upstream: TaskUpstream): NonNullable<Provider['embed']> {
  const { provider } = upstream;
  /** Some know numbers only. */
  let takesBase64 = true;
  return async (request, call) => {
    const model = needModel(request.model, provider);

    async function ask(batch: readonly EmbeddingInput[], signal: AbortSignal): Promise<Answer> {
      const isSingle = request.isSingle && batch.length === 1;
      const encoding = request.encoding === 'base64' && !takesBase64 ? undefined : request.encoding;
      const body = JSON.stringify({
        ...request.extra,
        model,
        input: isSingle ? batch[0] : batch,
        ...(encoding === undefined ? {} : { encoding_format: encoding }),
        ...(request.dimensions === undefined ? {} : { dimensions: request.dimensions }),
        ...(request.user === undefined ? {} : { user: request.user }),
      });
      try {
        const sent = { deed: 'make embeddings', endpoint: '/embeddings', body };
        const { json, bytes } = await postForJson(upstream, sent, call, signal);
        return { ...decodeEmbeddings(json, batch.length, provider), bytes };
      } catch (error) {
        if (encoding !== 'base64' || !refusesBase64(error)) throw error;
        takesBase64 = false;
        return ask(batch, signal);
      }
    }

    const size = PER_REQUEST[request.encoding === 'base64' && takesBase64 ? 'base64' : 'float'];
    return merge(await inBatches(request.inputs, size, call, ask));
  };
}

type Answer = Embeddings & { readonly bytes: Buffer };

/** One answer keeps its bytes, where all its vectors are written in the same way; of several nothing but what they say is left. */
export function merge(answers: readonly (Embeddings & { readonly bytes?: Buffer })[]): Embeddings {
  const [first] = answers;
  if (first === undefined) return { vectors: [] };
  if (answers.length === 1) {
    const ways = new Set(first.vectors.map((vector) => (typeof vector === 'string' ? 'base64' : 'float')));
    const [written] = ways;
    return ways.size === 1 && written !== undefined ? { ...first, written } : first;
  }
  const { bytes: _, written: __, usage: ___, ...said } = first;
  const usages = answers.flatMap(({ usage }) => (usage === undefined ? [] : [usage]));
  return {
    ...said,
    vectors: answers.flatMap(({ vectors }) => vectors),
    ...(usages.length < answers.length ? {} : { usage: sum(usages) }),
  };
}

function sum(usages: readonly EmbeddingUsage[]): EmbeddingUsage {
  return {
    promptTokens: usages.reduce((tokens, usage) => tokens + usage.promptTokens, 0),
    totalTokens: usages.reduce((tokens, usage) => tokens + usage.totalTokens, 0),
  };
}

/** OpenAI's answer. Throws where it has not exactly one vector for each input. */
export function decodeEmbeddings(
  json: Readonly<Record<string, unknown>>,
  count: number,
  provider: Provider,
): Embeddings {
  const { data, model, usage } = json;
  const vectors: Vector[] = [];
  for (const [position, entry] of (Array.isArray(data) ? data : []).entries()) {
    const { index, embedding } = membersOf(entry);
    if (!isVector(embedding)) throw odd(provider);
    vectors[typeof index === 'number' ? index : position] = embedding;
  }
  if (vectors.length !== count || Object.keys(vectors).length !== count) throw odd(provider);
  return {
    vectors,
    ...(typeof model === 'string' ? { model } : {}),
    ...usageOf(usage),
  };
}

/** Whether it is numbers, or what may be base64 of some. */
export function isVector(value: unknown): value is Vector {
  if (typeof value === 'string') return true;
  return Array.isArray(value) && value.every((number) => typeof number === 'number');
}

function usageOf(usage: unknown): Pick<Embeddings, 'usage'> {
  const { prompt_tokens: prompt, total_tokens: total } = membersOf(usage);
  const tokens = [prompt, total].filter((each) => typeof each === 'number');
  const [first, last = first] = tokens;
  return first === undefined || last === undefined ? {} : { usage: { promptTokens: first, totalTokens: last } };
}

function refusesBase64(error: unknown): boolean {
  if (!(error instanceof SluiceError) || (error.status !== 400 && error.status !== 422)) return false;
  return /encoding.?format|base64/i.test(error.message);
}

function odd({ label }: Provider): SluiceError {
  return new SluiceError('upstream_invalid', `${label} did not send one vector for each input.`);
}
