/** What one tab tells the others. They read what changed from the database. */
export type Word =
  | { readonly kind: 'chats'; readonly put: readonly string[]; readonly removed: readonly string[] }
  | {
      readonly kind: 'messages';
      readonly chat: string;
      readonly put: readonly string[];
      readonly removed: readonly string[];
    }
  /** The answers that a tab follows: their chats by message. */
  | { readonly kind: 'running'; readonly tab: string; readonly chats: Readonly<Record<string, string>> }
  /** A tab has begun, and knows of nobody's answers. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'records'; readonly of: string }
  | { readonly kind: 'cleared' };

const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('sluice');

/** Tells the other tabs; nobody in a browser without `BroadcastChannel`. */
export function tell(word: Word): void {
  channel?.postMessage(word);
}

/** Returns the way to end it. */
export function listen(listener: (word: Word) => void): () => void {
  const take = ({ data }: MessageEvent): void => listener(data as Word);
  channel?.addEventListener('message', take);
  return () => channel?.removeEventListener('message', take);
}
