/** What was asked of a model, free of any dialect. */

/** The APIs whose requests Sluice understands. */
export type WireFormat = 'openai' | 'responses' | 'anthropic' | 'gemini' | 'ollama';

/**
 * What one vendor attached and wants back unchanged, or what only it understands: signatures of thoughts, cache marks. By
 * vendor (`anthropic`, `google`, `openai`, `bedrock`), in the spelling of the AI SDK's provider options; nobody else looks inside.
 */
export type VendorData = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Choices of one request: OpenAI's limit for `n`. */
export const MOST_CHOICES = 128;

/** Text of a message. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly vendor?: VendorData;
}

/** What the assistant thought at this place of its message. Empty with `vendor` data where the vendor hides its thoughts. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly vendor?: VendorData;
}

/** Media of a message, inline or by address. */
export interface MediaPart {
  readonly type: 'media';
  readonly kind: 'image' | 'audio' | 'video' | 'file';
  /** An http(s) address or a `data:` URI (RFC 2397, base64). */
  readonly url: string;
  /** Known for every `data:` URI; for an address only when the client said so. */
  readonly mimeType?: string;
  readonly name?: string;
  /** OpenAI's image detail: low, high or auto. */
  readonly detail?: string;
  readonly vendor?: VendorData;
}

/** A bucket, or one media file of it, uploaded earlier; an enrichment step turns it into text or media. */
export interface BucketPart {
  readonly type: 'bucket';
  readonly bucketId: string;
  /** One media file of the bucket; without it the bucket's whole text is meant. */
  readonly name?: string;
  readonly vendor?: VendorData;
}

/** `ReasoningPart`s stand in messages of the assistant only. */
export type Part = TextPart | MediaPart | BucketPart | ReasoningPart;

/** A whole tool call, as the assistant made it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text exactly as the model wrote it; it may be incomplete or invalid. */
  readonly arguments: string;
  readonly vendor?: VendorData;
}

/** By role: only the assistant calls tools, and a message of `tool` answers the call of its `toolCallId`. */
export type Message =
  | { readonly role: 'system' | 'developer' | 'user'; readonly content: readonly Part[]; readonly name?: string }
  | {
      readonly role: 'assistant';
      readonly content: readonly Part[];
      readonly toolCalls?: readonly ToolCall[];
      readonly name?: string;
      readonly vendor?: VendorData;
    }
  | {
      readonly role: 'tool';
      readonly content: readonly Part[];
      readonly toolCallId: string;
      /** The tool failed, and the content says how. */
      readonly isError?: boolean;
      readonly vendor?: VendorData;
    };

/** A function the model may call. `parameters` is a JSON Schema. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly strict?: boolean;
  readonly vendor?: VendorData;
}

/** Whether a tool may, must not or must be called; or which one must be. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** How the answer shall be written, as OpenAI's `response_format` has it. `schema` is a JSON Schema. */
export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly schema?: Readonly<Record<string, unknown>>;
      readonly strict?: boolean;
      readonly description?: string;
    };

/** How the model shall choose its words. Absent means: the provider's default. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  /** none, minimal, low, medium, high, xhigh, or whatever else the client wrote: the upstream may know it. */
  readonly reasoningEffort?: string;
  /** Tokens of the answer that may be thoughts, where the client gave a number; its effort says the same in a word. */
  readonly thinkingTokens?: number;
}

/** What Gemini's clients call that number; they hear of it where it is lost. */
export const THINKING_BUDGET = 'generationConfig.thinkingConfig.thinkingBudget';

/** State a provider handed out with an answer and wants back on the next turn. Opaque to Sluice. */
export type Conversation = Readonly<Record<string, unknown>>;

/** What was asked, free of any dialect. */
export interface ChatRequest {
  /** As asked; aliases are routing's business. Empty: the provider's default. What a provider sees is its own name for the model. */
  readonly model: string;
  /** Explicit wishes, tried in order; empty when the client named none. */
  readonly providers: readonly string[];
  /** Providers the automatic choice must not use. */
  readonly ignored: readonly string[];
  readonly messages: readonly Message[];
  readonly sampling: Sampling;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  readonly responseFormat?: ResponseFormat;
  readonly conversation?: Conversation;
  /** true: search for the last message; a string: search for that. */
  readonly webSearch?: true | string;
  readonly downloadMedia: boolean;
  /** What to draw, where it is not the last message. */
  readonly prompt?: string;
  /** Of pictures and video, as `16:9`. */
  readonly aspectRatio?: string;
  /** The user whose memory shall help to answer. */
  readonly memoryUser?: string;
  /** The API the client spoke; absent: OpenAI's chat completions. */
  readonly format?: WireFormat;
  /**
   * Fields only an upstream of that format understands, kept as sent. A provider that has no place for one of them says so
   * with `call.drop`.
   */
  readonly extra: Readonly<Record<string, unknown>>;
}
