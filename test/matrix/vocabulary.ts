import type { VendorScript } from '../support/vendor-script.ts';

/** The words in which the matrix compares what clients of one format asked with what upstreams of another one got. */

/** What every client is tried with before every upstream: the rows of each table. */
export const ABILITIES = [
  'text',
  'stream',
  'tools',
  'parallel tools',
  'vision',
  'structured output',
  'JSON of any form',
  'reasoning',
  'usage',
  'error',
  'abort',
] as const;
export type Ability = (typeof ABILITIES)[number];

/** What a client may ask for beside its question, where its API has a name for it. */
export type Option =
  | 'temperature'
  | 'topK'
  | 'maxTokens'
  | 'stop'
  | 'seed'
  | 'toolChoice'
  | 'oneCall'
  | 'detail'
  | 'schema'
  | 'anyJson'
  | 'effort';

export interface Call {
  readonly name: string;
  readonly input: unknown;
}

/** Tokens in OpenAI's way of counting: `prompt` includes `cached`, `completion` includes `reasoning`. */
export interface Counts {
  readonly prompt: number | undefined;
  readonly completion: number | undefined;
  readonly cached?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** What a client made of an answer. */
export interface Heard {
  readonly text: string;
  readonly thoughts?: string | undefined;
  readonly calls?: readonly Call[];
  /** In the client's own word. */
  readonly finish?: string | null | undefined;
}

/** An error as a client's own class tells it. */
export interface Failure {
  /** Absent for errors inside a stream. */
  readonly status: number | undefined;
  readonly message: string;
}

/** A client before the gateway. Each method drives it through its own API; what it does not know, it lacks. */
export interface Connected {
  /** `QUESTION` under `SYSTEM` with all options of `SAMPLING` that it knows. */
  text(model: string): Promise<Heard>;
  stream(model: string): Promise<Heard>;
  /** Offers `TOOL`, insists on a call, answers it with `RESULT`, and gets the last word. */
  tools(model: string): Promise<Heard>;
  /** The same with two calls of `TOOLS` in one streamed answer, and without insisting. */
  parallelTools(model: string): Promise<Heard>;
  /** Offers `TOOLS` and wants one call at a time. */
  oneCall?(model: string): Promise<unknown>;
  /** Shows `PIXEL`, with little detail where it can say so. */
  vision(model: string): Promise<Heard>;
  /** Asks for JSON of `SCHEMA`; resolves with the value. */
  structured(model: string): Promise<unknown>;
  /** Asks for JSON of any form; resolves with its text. */
  anyJson?(model: string): Promise<string>;
  /** A streamed answer with thoughts and one call of `TOOL`, which then gets its `RESULT` with the thoughts. */
  reasoning(model: string): Promise<Heard>;
  /** Counts of a whole answer and of a streamed one. */
  usage(model: string): Promise<readonly Counts[]>;
  /** Rejects as the client does. */
  ask(model: string): Promise<unknown>;
  /** Reads a stream to its end and tells its pieces on the way. Rejects as the client does. */
  listen(model: string, onText: (text: string) => void): Promise<void>;
  /** Leaves a stream after its first words. */
  leave(model: string): Promise<void>;
  /** Gives up a whole answer when `signal` aborts. */
  giveUp?(model: string, signal: AbortSignal): Promise<unknown>;
}

/** One client library, unmodified, in one of the formats that it speaks. */
export interface MatrixClient {
  readonly title: string;
  /** The packages that it consists of. */
  readonly packages: readonly string[];
  /** What `x-sluice-dropped` calls its options. An option without a name has no place in the client's own API. */
  readonly words: Partial<Readonly<Record<Option, string>>>;
  /** Its words for how answers end. */
  readonly finishes: { readonly stop: string; readonly calls: string };
  /** What of an answer its own format has no place for, and why. */
  readonly deaf?: Partial<Readonly<Record<'cached' | 'reasoningTokens', string>>>;
  /** Whether it sends thoughts back with the results of tools. */
  readonly handsBackThoughts: boolean;
  connect(origin: string, headers: Readonly<Record<string, string>>): Connected;
  /** The error as its own class tells it; undefined where it is not of that class. */
  failure(thrown: unknown): Failure | undefined;
}

/** One turn of a conversation as it reached an upstream. */
export interface Turn {
  readonly role: 'user' | 'assistant' | 'results';
  readonly text?: string;
  /** Base64. */
  readonly images?: readonly string[];
  readonly calls?: readonly Call[];
  /** By the name of the tool: not every format has ids. */
  readonly results?: readonly { readonly name: string; readonly text: string }[];
  readonly thoughts?: string;
  /** What the vendor attached to its thoughts and wants back. */
  readonly signature?: string;
}

/** What reached an upstream. */
export interface Arrived {
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly { readonly name: string; readonly parameters: unknown }[];
  readonly options: Partial<Readonly<Record<Option, unknown>>>;
}

/** What is asked of models beside chats. */
export type Task = 'image' | 'speech' | 'transcribe' | 'embed';

/** An upstream that speaks one vendor's wire format. */
export interface MatrixUpstream {
  readonly title: string;
  /** The provider's name in the configuration, its kind, and its model that thinks, sees and calls tools. */
  readonly provider: string;
  readonly kind: string;
  readonly model: string;
  start(script: VendorScript): Promise<UpstreamServer>;
  read(body: unknown): Arrived;
  /** Options that it has no place for, and why: the header has to name them. */
  readonly cannot: Partial<Readonly<Record<Option, string>>>;
  /** The signature of thoughts that lead to a call; absent where thoughts are not signed. */
  readonly signature?: (callId: string) => string;
  /** Whether calls are signed where no thoughts are shown, too. */
  readonly signsCalls?: true;
  /** Its model for each task; absent where it has none, and then `cannotDo` says why. */
  readonly tasks: Partial<Readonly<Record<Task, string>>>;
  readonly cannotDo: Partial<Readonly<Record<Task, string>>>;
  /** What it does not tell or do of a task, by the name of the row, and why. */
  readonly untold?: Partial<Readonly<Record<Task, Readonly<Record<string, string>>>>>;
  /** Fields of a task, in OpenAI's words, that it has no place for, and why. */
  readonly lostByTask?: Partial<Readonly<Record<Task, Readonly<Record<string, string>>>>>;
}

export interface SeenByUpstream {
  readonly method: string;
  readonly path: string;
  /** The parsed JSON; undefined for forms. */
  readonly body: unknown;
  readonly rawBody?: Buffer;
  readonly closed: Promise<'finished' | 'aborted'>;
}

export interface UpstreamServer {
  readonly baseUrl: string;
  readonly requests: readonly SeenByUpstream[];
  close(): Promise<void>;
}

export const SYSTEM = 'Be brief.';
export const QUESTION = 'Hello';
/** What options are asked for, as `Arrived.options` has them. */
export const WANTED = {
  temperature: 0.5,
  topK: 40,
  maxTokens: 100,
  stop: ['END'],
  seed: 7,
  toolChoice: 'required',
  oneCall: true,
  detail: 'low',
  schema: true,
  anyJson: true,
  effort: true,
} as const satisfies Record<Option, unknown>;

export const TOOL = {
  name: 'weather',
  description: 'The weather now',
  parameters: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const } },
    required: ['city'],
    additionalProperties: false,
  },
};
export const SECOND_TOOL = {
  name: 'time',
  description: 'The time now',
  parameters: {
    type: 'object' as const,
    properties: { zone: { type: 'string' as const } },
    required: ['zone'],
    additionalProperties: false,
  },
};
export const RESULT = '20 degrees';
export const SECOND_RESULT = 'noon';

/** What a tool answers. */
export function resultOf(name: string): string {
  return name === TOOL.name ? RESULT : SECOND_RESULT;
}

/** What the structured answer has to look like. */
export const SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const }, degrees: { type: 'number' as const } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};

/** One pixel. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
