import type { Chunk } from '../../../src/core/chunk.ts';

/** The chunks of `POST conversation` as they come over the wire: the payload's key is the type's name. */
export type WireChunk =
  | {
      readonly type: 'provider';
      readonly provider: { readonly name: string; readonly label?: string | null; readonly model?: string | null };
    }
  | {
      readonly type: 'content';
      readonly content: string;
      readonly urls?: string | readonly string[];
      readonly alt?: string;
      readonly data?: string;
    }
  | { readonly type: 'reasoning'; readonly token?: string | null; readonly status?: string | null }
  | { readonly type: 'refusal'; readonly refusal: string }
  | {
      readonly type: 'tool_calls';
      readonly tool_calls: readonly {
        readonly id?: string;
        readonly index?: number;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    }
  | { readonly type: 'tool_result'; readonly tool_result: { readonly id: string; readonly content: string } }
  | { readonly type: 'source'; readonly source: WireSource }
  | { readonly type: 'sources'; readonly sources: readonly WireSource[] }
  | { readonly type: 'preview'; readonly preview: string }
  | { readonly type: 'suggestions'; readonly suggestions: readonly string[] }
  | { readonly type: 'title'; readonly title: string }
  | { readonly type: 'conversation'; readonly conversation: Readonly<Record<string, unknown>> }
  | { readonly type: 'parameters'; readonly parameters: Readonly<Record<string, unknown>> }
  | { readonly type: 'usage'; readonly usage: WireUsage }
  | { readonly type: 'log'; readonly log: string; readonly memories?: number }
  | {
      readonly type: 'error';
      readonly error: string;
      readonly message?: string;
      readonly code?: string;
      /** Seconds. */
      readonly retry_after?: number;
    }
  | { readonly type: 'auth'; readonly auth: string; readonly message?: string; readonly code?: string }
  | { readonly type: 'finish'; readonly finish: { readonly reason: string } };

interface WireSource {
  readonly url: string;
  readonly title?: string;
  readonly text?: string;
}

/** Tokens of an answer, in OpenAI's words. */
export interface WireUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number };
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number };
}

/** The server's two words that are spelt differently on the wire, and those that other dialects alone have. */
type OnTheWire<Type> = Type extends 'tool_call'
  ? 'tool_calls'
  : Type extends 'media'
    ? 'content'
    : Type extends 'search' | 'item'
      ? never
      : Type;

/** Does not compile while the server has a kind of chunk that the page has never heard of. */
type Unknown = Exclude<OnTheWire<Chunk['type']>, WireChunk['type']>;
/** For the compiler; nobody reads it. */
export const knowsAllChunks: [Unknown] extends [never] ? true : Unknown = true;
