/** What the page keeps: chats, and the messages in them as a tree, whose branches come from editing and regenerating. */

/** How answers of a chat shall be made. Absent: the provider's default. Names as on the wire. */
export interface Parameters {
  readonly temperature?: number;
  readonly top_p?: number;
  readonly max_tokens?: number;
  readonly seed?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly reasoning_effort?: string;
}

/** One of the models that answer the same questions beside each other, and the last message of its branch. */
export interface Side {
  readonly provider: string;
  readonly model: string;
  readonly leaf?: string;
}

/** A chat without its messages; these name it. */
export interface Chat {
  readonly id: string;
  readonly title: string;
  /** Who made the title: a later one of the server replaces the first words of the question, never a person's. */
  readonly titleBy: 'question' | 'model' | 'person';
  /** Milliseconds. */
  readonly created: number;
  readonly updated: number;
  readonly folder?: string;
  readonly tags: readonly string[];
  readonly pinned: boolean;
  readonly system?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly parameters?: Parameters;
  /** The last message of the branch that is shown. */
  readonly leaf?: string;
  /** State that providers handed out and want back, by provider. */
  readonly conversation?: Readonly<Record<string, unknown>>;
  /** false: answers here go without the memory, even where it is on. */
  readonly memory?: boolean;
  /** Models that are being compared in it. */
  readonly sides?: readonly Side[];
  /** An answer came while nobody looked at it. */
  readonly unread?: boolean;
  /** Where it is shared, if it is. */
  readonly share?: string;
}

/** What was written: of an answer, markdown. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

/** Media of an answer. */
export interface MediaPart {
  readonly type: 'media';
  readonly kind: 'image' | 'audio' | 'video';
  readonly url: string;
  readonly alt?: string;
  /** Of pictures, where they are known: then nothing moves when one arrives. */
  readonly width?: number;
  readonly height?: number;
}

/** A file that went with a question: a bucket of its own on the server. */
export interface FilePart {
  readonly type: 'file';
  readonly bucketId: string;
  /** As the person calls it. */
  readonly name: string;
  /** Its name in the bucket, for media; without it the bucket's text is meant. */
  readonly media?: string;
  readonly kind: 'image' | 'audio' | 'video' | 'document';
  /** Bytes, of a document those of its text. */
  readonly size?: number;
}

/** A piece of what a message says. */
export type Part = TextPart | MediaPart | FilePart;

/** A failure with what is needed to say what to do about it. */
export interface Failure {
  readonly message: string;
  readonly code?: string;
  readonly status?: number;
  /** When it is worth trying again, in milliseconds since the epoch. */
  readonly retryAt?: number;
  /** The provider's key is missing or was refused. */
  readonly needsKey?: boolean;
}

/** A call of a tool. `index`: its place among the calls of the answer; `result`: where the tool ran at the provider. */
export interface ToolCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it; it may be incomplete. */
  readonly arguments: string;
  readonly result?: string;
}

/** A page that an answer rests on. `text`: what is quoted of it. */
export interface Source {
  readonly url: string;
  readonly title?: string;
  readonly text?: string;
}

/** Tokens of an answer; cached ones are among those of the prompt, reasoning ones among those of the completion. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly cachedTokens?: number;
  readonly reasoningTokens?: number;
}

/** Milliseconds since the epoch; `reasoning` is a duration. */
export interface Timing {
  readonly asked: number;
  readonly first?: number;
  readonly ended?: number;
  readonly reasoningFrom?: number;
  readonly reasoning?: number;
}

/** A part of the tree of a chat; without a parent it is a first one. */
export interface Message {
  readonly id: string;
  readonly chat: string;
  readonly parent: string | null;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Part[];
  readonly createdAt: number;
  /** Of answers, from here on. `provider` is the name that requests use, `label` what people read. */
  readonly provider?: string;
  readonly label?: string;
  readonly model?: string;
  readonly usage?: Usage;
  /** Of the answer before it was gone on with, which is in `usage` as well. */
  readonly usageBefore?: Usage;
  readonly timing?: Timing;
  readonly reasoning?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly sources?: readonly Source[];
  /** How many statements of the memory went along with the question. */
  readonly memories?: number;
  readonly suggestions?: readonly string[];
  /** The person wrote its text anew. */
  readonly edited?: boolean;
  /** What the server had to say beside it: a search that failed, media that were not kept. */
  readonly notes?: readonly string[];
  /** Shown until content arrives. */
  readonly preview?: string;
  readonly error?: Failure;
  /** The stream that the server keeps, and the last event of it that is in this message. */
  readonly streamId?: string;
  readonly lastEvent?: number;
  /** stop, length, content_filter, … or `stopped` when the person stopped it. Absent while it runs and when it broke off. */
  readonly finish?: string;
}

/** Whether nothing more can come to an answer. */
export function isOver(message: Message): boolean {
  return message.role === 'user' || message.finish !== undefined || message.error !== undefined;
}

/** All text of a message. */
export function textOf(message: Message): string {
  const texts = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === 1 ? (texts[0] ?? '') : texts.join('\n\n');
}

/** A random UUID; `crypto.randomUUID` is missing on plain http addresses other than localhost. */
export function newId(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}
