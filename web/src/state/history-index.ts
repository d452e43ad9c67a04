import { folded, termsOf } from './history-text.ts';

/** Something with text: a chat's title under the chat's own id, or a message. */
export interface Entry {
  readonly id: string;
  readonly chat: string;
  readonly text: string;
}

/** A chat in which all terms occur, in whatever of its messages. */
export interface Hit {
  readonly chat: string;
  /** The message with the most of them; absent where the title has them all. */
  readonly message?: string;
}

/**
 * The texts of all chats, to be searched by scanning. That is quick: a scan of 40 million characters takes tens of
 * milliseconds, and unlike an index of words it finds parts of words and text without blanks.
 */
export class HistoryIndex {
  readonly #chats = new Map<string, { title: string; updated: number; readonly messages: Map<string, string> }>();

  /** Adds a chat, or notes its present title. */
  putChat(id: string, title: string, updated: number): void {
    const chat = this.#chatOf(id);
    chat.title = folded(title);
    chat.updated = updated;
  }

  putMessage({ id, chat, text }: Entry): void {
    this.#chatOf(chat).messages.set(id, folded(text));
  }

  has(chat: string): boolean {
    return this.#chats.has(chat);
  }

  removeChat(id: string): void {
    this.#chats.delete(id);
  }

  removeMessage(chat: string, id: string): void {
    this.#chats.get(chat)?.messages.delete(id);
  }

  #chatOf(id: string): { title: string; updated: number; readonly messages: Map<string, string> } {
    let chat = this.#chats.get(id);
    if (chat === undefined) {
      chat = { title: '', updated: 0, messages: new Map() };
      this.#chats.set(id, chat);
    }
    return chat;
  }

  /** Titles with all terms come first, then chats with a message that has them all, then the rest; the newest first. */
  search(search: string): readonly Hit[] {
    const terms = termsOf(search);
    if (terms.length === 0) return [];
    const found: { readonly hit: Hit; readonly rank: number; readonly updated: number }[] = [];
    for (const [id, chat] of this.#chats) {
      const inTitle = countIn(chat.title, terms);
      if (inTitle === terms.length) {
        found.push({ hit: { chat: id }, rank: 0, updated: chat.updated });
        continue;
      }
      const best = bestOf(chat, terms);
      if (best === undefined) continue;
      const hit = best.message === undefined ? { chat: id } : { chat: id, message: best.message };
      found.push({ hit, rank: best.count === terms.length ? 1 : 2, updated: chat.updated });
    }
    found.sort((a, b) => a.rank - b.rank || b.updated - a.updated);
    return found.map(({ hit }) => hit);
  }
}

/** The message with the most terms, if all terms are somewhere in the chat. */
function bestOf(
  { title, messages }: { readonly title: string; readonly messages: ReadonlyMap<string, string> },
  terms: readonly string[],
): { readonly message?: string; readonly count: number } | undefined {
  const missing = new Set(terms.filter((term) => !title.includes(term)));
  let message: string | undefined;
  let count = 0;
  for (const [id, text] of messages) {
    let here = 0;
    for (const term of terms) {
      if (!text.includes(term)) continue;
      here += 1;
      missing.delete(term);
    }
    if (here > count) {
      count = here;
      message = id;
    }
    if (here === terms.length) break;
  }
  if (missing.size > 0) return undefined;
  return message === undefined ? { count } : { message, count };
}

function countIn(text: string, terms: readonly string[]): number {
  return terms.filter((term) => text.includes(term)).length;
}
