import type { IncomingHttpHeaders } from 'node:http';

/**
 * What a scripted upstream answers, free of any wire format: the same script can be played by an upstream that speaks
 * Anthropic's, Google's, Amazon's or OpenAI's format.
 */

/** What arrived, as sent and in the words that all wire formats share. */
export interface VendorRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON body; undefined when there was none. */
  readonly body: unknown;
  readonly model: string;
  readonly stream: boolean;
  /** Text of the last message that has any, whoever wrote it: a user's question or a tool's result. */
  readonly prompt: string;
  /** Images that came inline or by address, in all messages. */
  readonly images: number;
  /** Names of the offered tools. */
  readonly tools: readonly string[];
}

export interface VendorToolCall {
  readonly id: string;
  readonly name: string;
  /** Fragments of JSON text, sent one by one. Formats which know only whole calls join them. */
  readonly arguments: readonly string[];
}

export type VendorFinish = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Tokens in OpenAI's way of counting: `prompt` includes `cached` and `written`, `completion` includes `reasoning`. */
export interface VendorUsage {
  readonly prompt: number;
  readonly completion: number;
  readonly cached?: number;
  /** Into a cache of prompts. */
  readonly written?: number;
  readonly reasoning?: number;
}

/**
 * An answer. Pieces are sent in this order: reasoning, text, images, fragments of the tool calls. The faults count
 * pieces, so `cutAfter: 2` sends two of them and then breaks the connection.
 */
export interface VendorAnswer {
  readonly reasoning?: Iterable<string>;
  /** May be a generator without end: it is asked for the next piece only when the socket takes more. */
  readonly text?: Iterable<string>;
  /** Generated images, base64, for formats that have them. */
  readonly images?: readonly { readonly mimeType: string; readonly data: string }[];
  readonly toolCalls?: readonly VendorToolCall[];
  /** For every text that is to be embedded. */
  readonly vector?: readonly number[];
  /** Default: `tool_calls` when there are any, else `stop`. */
  readonly finish?: VendorFinish;
  /** Default: prompt 11, completion 7. */
  readonly usage?: VendorUsage;
  /** Default 200; from 300 on the answer is the vendor's error object with `errorMessage`. */
  readonly status?: number;
  readonly errorMessage?: string;
  /** Further response headers, for example `retry-after` or `location`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The whole body of a 200 or an error, instead of everything above. */
  readonly raw?: string;
  /** Nothing is answered at all, not even headers. */
  readonly silent?: boolean;
  /** All is said, but the answer does not end until then, or (`true`) until the other side closes. */
  readonly lingers?: boolean | Promise<void>;
  /** Silence after so many pieces, until the other side closes. */
  readonly stallAfter?: number;
  /** The connection is destroyed after so many pieces. */
  readonly cutAfter?: number;
  /** The stream ends after so many pieces, orderly but without its finish. */
  readonly endAfter?: number;
  /** An error inside the stream after so many pieces, with `errorMessage`. With an equal `stallAfter` it stays open. */
  readonly errorAfter?: number;
  /** Milliseconds between pieces; 0: pieces go out as fast as the socket takes them. */
  readonly delayMs?: number;
  /** Waited for behind every write of pieces, as long as the test likes. */
  readonly afterPiece?: () => Promise<void>;
  /** Pieces per write; default 1. */
  readonly burst?: number;
  /** Writes are cut into slices of so many bytes, wherever that cuts characters and events. */
  readonly sliceBytes?: number;
}

export type VendorScript = (request: VendorRequest) => VendorAnswer | Promise<VendorAnswer>;

/** One step of an answer's body, in the order in which it goes over the wire. */
export type VendorPiece =
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mimeType: string; readonly data: string }
  | {
      readonly kind: 'tool';
      readonly index: number;
      readonly call: VendorToolCall;
      readonly fragment: string;
      readonly first: boolean;
      readonly last: boolean;
    };

/** The answer's body, piece by piece. */
export function* piecesOf(answer: VendorAnswer): Generator<VendorPiece> {
  for (const text of answer.reasoning ?? []) yield { kind: 'reasoning', text };
  for (const text of answer.text ?? []) yield { kind: 'text', text };
  for (const image of answer.images ?? []) yield { kind: 'image', ...image };
  for (const [index, call] of (answer.toolCalls ?? []).entries()) {
    const fragments = call.arguments.length === 0 ? [''] : call.arguments;
    for (const [at, fragment] of fragments.entries()) {
      yield { kind: 'tool', index, call, fragment, first: at === 0, last: at === fragments.length - 1 };
    }
  }
}

export function finishOf(answer: VendorAnswer): VendorFinish {
  return answer.finish ?? (answer.toolCalls?.length ? 'tool_calls' : 'stop');
}

export function usageOf(answer: VendorAnswer): VendorUsage {
  return answer.usage ?? { prompt: 11, completion: 7 };
}
