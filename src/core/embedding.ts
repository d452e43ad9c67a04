/** Texts as vectors: requests and answers of `Provider.embed`, free of any dialect. */

/** One thing to embed: a text, or the ids of its tokens by the tokenizer of OpenAI's embedding models (cl100k_base). */
export type EmbeddingInput = string | readonly number[];

/** How vectors are written: as JSON numbers, or as base64 of their 32 bit floats, little-endian. */
export type VectorEncoding = 'float' | 'base64';

/** Texts to turn into vectors, by one provider. */
export interface EmbeddingRequest {
  /** The provider's own name of a model; empty: its default. */
  readonly model: string;
  readonly inputs: readonly EmbeddingInput[];
  /** The client sent a single input, not a list of one. */
  readonly isSingle: boolean;
  /** How the client wants them; a provider may answer in the other way, which is cheap to change. */
  readonly encoding: VectorEncoding | undefined;
  readonly dimensions?: number;
  readonly user?: string;
  /** Whatever else was asked for; a provider takes what it understands and drops the rest. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** A vector as the upstream wrote it: numbers, or base64 of 32 bit floats. */
export type Vector = readonly number[] | string;

/** Of all inputs together. */
export interface EmbeddingUsage {
  readonly promptTokens: number;
  readonly totalTokens: number;
  /** Nobody counted: this is a guess. */
  readonly estimated?: true;
}

/** The vectors of one request. */
export interface Embeddings {
  /** One for each input, in their order. */
  readonly vectors: readonly Vector[];
  /** The upstream's own name for the model that did it. */
  readonly model?: string;
  /** Absent where the upstream does not tell. */
  readonly usage?: EmbeddingUsage;
  /** The whole answer in OpenAI's format as it came, with every vector in `written`, where one upstream request sufficed. */
  readonly bytes?: Buffer;
  readonly written?: VectorEncoding;
}
