import type { EmbeddingModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Call } from '../../core/call.ts';
import type { EmbeddingRequest, Embeddings } from '../../core/embedding.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Provider } from '../../core/provider.ts';
import { inBatches } from '../tasks/batches.ts';
import { merge } from '../tasks/embed.ts';
import { textsOf } from '../tasks/tokens.ts';
import type { Connection, Reached } from './connection.ts';
import { type Speaker, thrownFailure } from './failure.ts';

/** What a vendor's file says about its embeddings. */
export interface EmbeddingSpec {
  /** Texts of one request, by the vendor's own documents; its library may believe otherwise. */
  perRequest(model: string): number;
  open(connection: Connection): Promise<(model: string) => EmbeddingModelV4>;
  /** What the library wants to know. `drop` is told of what it has no place for. */
  options(request: EmbeddingRequest, drop: (field: string) => void): SharedV4ProviderOptions;
}

/** `embed` through one of the AI SDK's vendor libraries (`EmbeddingModelV4`); nothing where the vendor has no embeddings. */
export function embeddingOf(spec: EmbeddingSpec | undefined, reach: (call: Call) => Reached): Pick<Provider, 'embed'> {
  if (spec === undefined) return {};
  return {
    async embed(request, call) {
      const { connection, who, nameOf } = reach(call);
      const name = nameOf(request.model);
      // The answer is JSON, which `vendorFetch` expects of those alone that ask for it.
      const headers = { ...connection.headers, accept: 'application/json' };
      const model = (await spec.open({ ...connection, headers }))(name);
      const texts = await textsOf(request.inputs);
      if (request.user !== undefined) call.drop('user');
      const providerOptions = spec.options(request, (field) => call.drop(field));
      const ask = async (batch: readonly string[], abortSignal: AbortSignal): Promise<Embeddings> => {
        const { embeddings, usage } = await model.doEmbed({
          values: [...batch],
          abortSignal,
          providerOptions,
        });
        if (embeddings.length !== batch.length) {
          throw new SluiceError('upstream_invalid', `${who.label} did not send one vector for each input.`);
        }
        return { vectors: embeddings, ...usageOf(usage?.tokens) };
      };
      return embedAll(texts, spec.perRequest(name), call, ask, who);
    },
  };
}

async function embedAll(
  texts: readonly string[],
  size: number,
  call: Call,
  ask: (batch: readonly string[], signal: AbortSignal) => Promise<Embeddings>,
  who: Speaker,
): Promise<Embeddings> {
  try {
    return merge(await inBatches(texts, size, call, ask));
  } catch (thrown) {
    throw call.cancelled ?? thrownFailure(who, thrown);
  }
}

function usageOf(tokens: number | undefined): Pick<Embeddings, 'usage'> {
  if (tokens === undefined || !Number.isFinite(tokens)) return {};
  return { usage: { promptTokens: tokens, totalTokens: tokens } };
}
