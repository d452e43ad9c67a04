import type { ErrorCode } from '../../core/errors.ts';

/**
 * What gateway and engine say to each other. The engine is a child process that holds one model; messages are JSON
 * over Node's IPC channel. An engine gets `load` once, then any number of tasks.
 */
export type ToEngine =
  | { readonly type: 'load'; readonly settings: EngineSettings }
  | { readonly type: 'generate'; readonly id: number; readonly task: Task }
  | { readonly type: 'embed'; readonly id: number; readonly texts: readonly string[] }
  /** The engine answers with `ended`, as for a task that came to its end by itself. */
  | { readonly type: 'cancel'; readonly id: number };

/** What the engine says. `id` is that of the task. */
export type FromEngine =
  | { readonly type: 'ready'; readonly contextLength: number }
  /** The model cannot be loaded. `reason` is for the log only, since it may name paths. */
  | { readonly type: 'broken'; readonly reason: string }
  /** Sent every few seconds while the engine loads or works: it is slow, not dead. */
  | { readonly type: 'pulse' }
  | { readonly type: 'piece'; readonly id: number; readonly kind: 'content' | 'reasoning'; readonly text: string }
  /** Something the reader of the answer should know, for example that old messages were left out. */
  | { readonly type: 'note'; readonly id: number; readonly text: string }
  /** Vectors of the texts of a task, as base64 of their 32 bit floats; `ended` follows. */
  | { readonly type: 'embedded'; readonly id: number; readonly vectors: readonly string[]; readonly tokens: number }
  /** The task's place is free again. */
  | { readonly type: 'ended'; readonly id: number; readonly outcome: Outcome };

/** What an engine is told once, with `load`. */
export interface EngineSettings {
  readonly modelPath: string;
  /** What the model is loaded for; absent: to generate. */
  readonly purpose?: 'embed';
  readonly threads: number;
  /** Tasks at the same time. */
  readonly parallel: number;
  /** Upper limit for tokens of prompt and answer together; a model trained with less gets less. */
  readonly contextLimit: number;
}

/** One answer to generate. */
export interface Task {
  readonly turns: readonly Turn[];
  readonly sampling: TaskSampling;
  /** JSON only: any object, or what a schema allows. */
  readonly format?: { readonly schema?: GrammarSchema };
  /** false: the model shall answer without thinking first, where it can do so. */
  readonly thinking: boolean;
}

/** What one side said; calls of tools stand among the assistant's texts, with what the tools answered. */
export type Turn =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly parts: readonly (string | PastCall)[] };

/** A tool call of an earlier turn together with what the tool answered. */
export interface PastCall {
  readonly name: string;
  /** Parsed JSON; the text itself where it is not JSON. */
  readonly arguments: unknown;
  readonly result: string;
}

/** The client's wishes, with the embedded model's defaults for the rest. */
export interface TaskSampling {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  /** 1 switches it off. */
  readonly repeatPenalty: number;
  readonly presencePenalty: number;
  readonly frequencyPenalty: number;
  readonly seed?: number;
  readonly maxTokens?: number;
  readonly stop: readonly string[];
}

/** A JSON Schema in the subset that can be turned into a grammar: see `grammar-schema.ts`. */
export type GrammarSchema = Readonly<Record<string, unknown>>;

/** How a task ended. */
export type Outcome =
  | { readonly type: 'finished'; readonly finish: 'stop' | 'length'; readonly usage: TaskUsage }
  | { readonly type: 'embedded' }
  | { readonly type: 'cancelled' }
  | { readonly type: 'failed'; readonly failure: Failure };

/** An error as it goes over IPC, where a `SluiceError` would lose its class. */
export interface Failure {
  readonly code: ErrorCode;
  /** For the client. */
  readonly message: string;
  readonly param?: string;
  /** For the log only. */
  readonly reason?: string;
}

/** Tokens. */
export interface TaskUsage {
  readonly prompt: number;
  /** Tokens at the start of the prompt that a former task had left in memory. */
  readonly cached: number;
  readonly completion: number;
  readonly reasoning: number;
}
