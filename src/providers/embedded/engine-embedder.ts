import { SluiceError } from '../../core/errors.ts';
import { openLlama } from './engine-llama.ts';
import type { EngineSettings } from './protocol.ts';

/** A loaded model that turns texts into vectors. Runs inside the engine. */
export interface EngineEmbedder {
  /** Tokens of one text. */
  readonly contextLength: number;
  /** One vector for each text, as base64 of its 32 bit floats. Rejects with a `SluiceError` for what the client did wrong. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embedded>;
}

/** Vectors as base64 of their 32 bit floats, little-endian; `tokens` is the sum of all texts. */
export interface Embedded {
  readonly vectors: readonly string[];
  readonly tokens: number;
}

/** Rejects when the file is no model, of an unknown kind, or too large for the machine's memory. */
export async function loadEngineEmbedder(settings: EngineSettings): Promise<EngineEmbedder> {
  const { threads, modelPath, contextLimit } = settings;
  const llama = await openLlama(threads);
  const model = await llama.loadModel({ modelPath });
  const contextLength = Math.min(contextLimit, model.trainContextSize);
  // A text is read in one step, so the batch has to hold it.
  const context = await model.createEmbeddingContext({ contextSize: contextLength, batchSize: contextLength, threads });
  return {
    contextLength,
    async embed(texts, signal) {
      const vectors: string[] = [];
      let tokens = 0;
      for (const [index, text] of texts.entries()) {
        signal.throwIfAborted();
        const input = model.tokenize(text);
        // The beginning and the end of a text have tokens of their own.
        if (input.length + 2 > contextLength) {
          const message = `Text ${index} has ${input.length} tokens; this model reads ${contextLength - 2}.`;
          throw new SluiceError('invalid_request', message, { param: 'input' });
        }
        if (input.length === 0) throw new SluiceError('invalid_request', `Text ${index} is empty.`, { param: 'input' });
        tokens += input.length;
        const { vector } = await context.getEmbeddingFor(input);
        vectors.push(Buffer.from(Float32Array.from(vector).buffer).toString('base64'));
      }
      return { vectors, tokens };
    },
  };
}
