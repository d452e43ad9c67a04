/** What a model can do, as far as it is known. Absent means unknown or no. */
export interface Model {
  /** The upstream's own name, sent back in requests. */
  readonly id: string;
  readonly label?: string;
  /** What kind of request it serves; chat when absent. */
  readonly type?: 'chat' | 'image' | 'video' | 'speech' | 'transcription' | 'embedding' | 'rerank' | 'moderation';
  /** Makes images. */
  readonly image?: boolean;
  /** Reads images. */
  readonly vision?: boolean;
  /** Hears or speaks. */
  readonly audio?: boolean;
  /** Makes video. */
  readonly video?: boolean;
  readonly tools?: boolean;
  readonly reasoning?: boolean;
  /** Tokens of prompt and answer together. */
  readonly contextLength?: number;
  readonly tags?: readonly string[];
}

/** Whether a model answers chats, which is what the automatic choice looks for. */
export function isChatModel(model: Model): boolean {
  return model.type === undefined || model.type === 'chat';
}
