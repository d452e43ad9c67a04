import type { Buffer } from 'node:buffer';

/**
 * Requests in the OpenAI wire format that no other format has an equal for, so that their bytes go to the upstream as the client
 * sent them: moderations, and completions of a plain text.
 */
export interface JsonRequest {
  /** The provider's own name of a model; empty: its default. */
  readonly model: string;
  /** The body with that name. */
  readonly body: Buffer;
  /** A stream of events is wanted. */
  readonly stream: boolean;
}

/** The whole answer as it came, or events from the first bytes on. They throw when the rest cannot be had. */
export type JsonAnswer =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'events'; readonly events: AsyncIterable<Buffer> };
