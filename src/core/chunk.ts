import type { Conversation, VendorData } from './chat.ts';
import { type ErrorInfo, unreachable } from './errors.ts';

/** Which provider and model answer. */
export interface ProviderInfo {
  readonly id: string;
  readonly label: string;
  readonly url: string | null;
  readonly model: string;
}

/** A piece of a tool call. The first piece of an `index` carries `id` and `name`; arguments are fragments of JSON text. */
export interface ToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly name?: string;
  readonly arguments: string;
  readonly vendor?: VendorData;
}

/** What an answer, or a part of its text, rests on. */
export interface Source {
  readonly url: string;
  readonly title?: string;
  /** What is quoted. */
  readonly text?: string;
  /** Where in the answer's text so far it belongs, in UTF-16 units. */
  readonly start?: number;
  readonly end?: number;
}

/** A search of the web that was made for an answer. */
export interface Searched {
  readonly query: string;
  /** Whether the model got anything of it. */
  readonly isUsed: boolean;
}

/**
 * What an upstream of the Responses API says of an item of its answer, for clients of the same API. Texts, thoughts and calls are
 * chunks of their own; this is what else there is of them, and all that tools say that run at the upstream.
 */
export interface ItemEvent {
  /** As it came (https://platform.openai.com/docs/api-reference/responses-streaming). */
  readonly event: Readonly<Record<string, unknown>>;
  /** Of a tool that runs there: its work has begun, and another provider can no longer take over. */
  readonly isWork: boolean;
}

/** Media in an answer. */
export interface MediaRef {
  readonly kind: 'image' | 'audio' | 'video';
  /** http(s) address, an own path, or a `data:` URI. */
  readonly url: string;
  readonly mimeType?: string;
  readonly alt?: string;
  /** Which of several pictures it is that were drawn together, from 1. */
  readonly number?: number;
  /** What an audio answer says, as text. */
  readonly transcript?: string;
  /** Of pictures, as they are to be shown. */
  readonly width?: number;
  readonly height?: number;
  /** Where it came from, when it is kept here; absent for media that came inline. */
  readonly source?: string;
  /** Base64 of a sound that came inline and is kept: some formats have sounds in the answer itself. */
  readonly inline?: string;
}

/** Tokens, counted in the way of OpenAI's chat completions. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly cachedTokens?: number;
  /** Written to the vendor's cache by this request. */
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  /** The provider gave no figures, so Sluice counted bytes. */
  readonly estimated?: boolean;
  /** The upstream's own object with every detail, when it speaks the OpenAI wire format. */
  readonly raw?: Readonly<Record<string, unknown>>;
}

/** What an upstream calls an answer, and the model that gave it: often a dated name of the one that was asked. */
export interface AnsweredAs {
  readonly id?: string;
  readonly model?: string;
}

/** stop, length, tool_calls, content_filter, or whatever else the provider says. */
export type FinishReason = string;

/**
 * One typed piece of an answer. The payload's key is the type's name, which is also dialect A's own word for it, where it has one:
 * `tool_call`, `media`, `refusal`, `source`, `search` and `item` are ours.
 */
export type Chunk =
  | { readonly type: 'provider'; readonly provider: ProviderInfo } // made by routing, always first
  | { readonly type: 'parameters'; readonly parameters: Readonly<Record<string, unknown>> }
  | { readonly type: 'conversation'; readonly conversation: Conversation }
  | { readonly type: 'content'; readonly content: string; readonly vendor?: VendorData }
  // With `vendor`, the last piece of a block of thoughts; its text may be empty then.
  | { readonly type: 'reasoning'; readonly reasoning: string; readonly vendor?: VendorData }
  | { readonly type: 'refusal'; readonly refusal: string }
  | { readonly type: 'source'; readonly source: Source }
  | { readonly type: 'search'; readonly search: Searched } // of a model that searches while it answers
  | { readonly type: 'item'; readonly item: ItemEvent }
  | { readonly type: 'tool_call'; readonly tool_call: ToolCallDelta }
  | { readonly type: 'media'; readonly media: MediaRef }
  // Of a picture that is still being made: its addresses so far, and what they show.
  | { readonly type: 'preview'; readonly preview: string; readonly urls?: readonly string[]; readonly alt?: string }
  | { readonly type: 'suggestions'; readonly suggestions: readonly string[] }
  | { readonly type: 'title'; readonly title: string }
  | { readonly type: 'usage'; readonly usage: Usage }
  // `memories`: how many statements of the memory went along with the question.
  | { readonly type: 'log'; readonly log: string; readonly memories?: number }
  | { readonly type: 'auth'; readonly auth: ErrorInfo } // made by routing when credentials are missing or refused
  | { readonly type: 'error'; readonly error: ErrorInfo } // made by routing; providers throw
  // `stopSequence`: the client's own stop word that ended the answer; `serviceTier`: what it was served as; `answeredAs`: for traces
  // alone. Where the provider tells.
  | {
      readonly type: 'finish';
      readonly finish: FinishReason;
      readonly stopSequence?: string;
      readonly serviceTier?: string;
      readonly answeredAs?: AnsweredAs;
    };

/**
 * What one read of the upstream brought. Chunks travel in batches, so that a burst costs one step through the
 * program and one write to the client, however many tokens it carries. An empty batch is a sign of life.
 */
export type Batch = readonly Chunk[];

/** The chunks after which another provider can no longer take over: the client has seen something. */
export function isVisible(chunk: Chunk): boolean {
  switch (chunk.type) {
    case 'content':
      return chunk.content !== '';
    case 'reasoning':
      return chunk.reasoning !== '';
    case 'item':
      return chunk.item.isWork;
    case 'refusal':
    case 'tool_call':
    case 'media':
    case 'preview':
      return true;
    case 'provider':
    case 'parameters':
    case 'conversation':
    case 'source':
    case 'search':
    case 'suggestions':
    case 'title':
    case 'usage':
    case 'log':
    case 'auth':
    case 'error':
    case 'finish':
      return false;
    default:
      return unreachable(chunk);
  }
}
