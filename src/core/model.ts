import type { VendorData } from './chat.ts';

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
  /** Tokens of the longest answer. */
  readonly longestAnswer?: number;
  readonly tags?: readonly string[];
  /** What its vendor says of it, for clients of that vendor's API. */
  readonly vendor?: VendorData;
}

/** Whether a model answers chats, which is what the automatic choice looks for. */
export function isChatModel(model: Model): boolean {
  return model.type === undefined || model.type === 'chat';
}

/** Whether a model reads texts aloud. Those for conversations by voice talk through a socket of their own. */
export function isSpeechModel({ id, type }: Model): boolean {
  return type === 'speech' && !/realtime|live|native-audio/i.test(id);
}
