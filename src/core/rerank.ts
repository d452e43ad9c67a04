/** Documents in the order in which they fit a question: requests and answers of `Provider.rerank`. */

/** A text, or an object such as `{text}` or `{image}` that only some upstreams understand. */
export type RankedDocument = string | Readonly<Record<string, unknown>>;

/** What a provider is to put in order. */
export interface RerankRequest {
  /** The provider's own name of a model; empty: its default. */
  readonly model: string;
  readonly query: string | Readonly<Record<string, unknown>>;
  readonly documents: readonly RankedDocument[];
  /** How many of the best to answer; absent: all. */
  readonly topN?: number;
  /** Whatever else was asked for, in the words of Cohere's and Jina's API, which most upstreams share. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** What came of it: all documents, or the best `topN`. */
export interface Ranking {
  /** Best first. */
  readonly results: readonly RankedResult[];
  /** The upstream's own id of the answer, and its name for the model. */
  readonly id?: string;
  readonly model?: string;
  /** The upstream's own figures: `usage` of most, `meta` of Cohere. */
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Scores are the model's own: those of two models cannot be compared. */
export interface RankedResult {
  /** Of the document among those of the request. */
  readonly index: number;
  readonly score: number;
}
