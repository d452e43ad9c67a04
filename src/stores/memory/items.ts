import type { MemoryItem, MemoryQuery, MemoryStore } from '../../core/stores.ts';
import { checkId } from '../id.ts';
import { goesOn, searchTerms, spaced } from '../words.ts';

/** Remembered items in this process's memory, searched one by one. */
export class MemoryItems implements MemoryStore {
  /** By user, then by id; what was added last comes last. */
  readonly #users = new Map<string, Map<string, string>>();

  async add(items: readonly MemoryItem[]): Promise<void> {
    for (const { userId, id } of items) {
      checkId(userId);
      checkId(id);
    }
    for (const item of items) {
      const own = this.#users.get(item.userId) ?? new Map<string, string>();
      const present = own.get(item.id);
      const { createdAt } = present === undefined ? item : (JSON.parse(present) as MemoryItem);
      own.set(item.id, JSON.stringify({ ...item, createdAt }));
      this.#users.set(item.userId, own);
    }
  }

  async find(
    userId: string,
    { text, filters = {}, metadata = {}, offset, limit }: MemoryQuery,
  ): Promise<{ total: number; items: readonly (MemoryItem & { score?: number })[] }> {
    const own = [...(this.#users.get(checkId(userId))?.values() ?? [])].map((json) => JSON.parse(json) as MemoryItem);
    const wanted = own
      .filter((item) => Object.entries(filters).every(([name, value]) => fieldOf(item, name) === value))
      .filter((item) => Object.entries(metadata).every(([name, value]) => metadataOf(item, name) === value))
      .reverse()
      .sort((one, other) => other.createdAt - one.createdAt);
    const found = text === undefined ? wanted : ranked(wanted, text);
    return { total: found.length, items: found.slice(offset, offset + limit) };
  }

  async delete(userId: string, id?: string): Promise<number> {
    const own = this.#users.get(checkId(userId));
    if (own === undefined) return 0;
    if (id !== undefined) return own.delete(checkId(id)) ? 1 : 0;
    this.#users.delete(userId);
    return own.size;
  }
}

function fieldOf(item: MemoryItem, name: string): unknown {
  switch (name) {
    case 'id':
      return item.id;
    case 'user_id':
      return item.userId;
    case 'role':
      return item.role;
    case 'memory':
      return item.text;
    case 'created_at':
      return Math.trunc(item.createdAt);
    case 'updated_at':
      return Math.trunc(item.updatedAt);
    default:
      return metadataOf(item, name);
  }
}

function metadataOf(item: MemoryItem, name: string): unknown {
  if (name === 'conversation_id') return item.conversationId;
  return Object.hasOwn(item.metadata, name) ? item.metadata[name] : undefined;
}

/** Those with any of the words; each word counts the more, the fewer items have it. */
function ranked(items: readonly MemoryItem[], question: string): readonly (MemoryItem & { score: number })[] {
  const terms = searchTerms(question);
  const texts = items.map((item) => `${folded(item.text)} `);
  const scores = items.map(() => 0);
  for (const term of terms) {
    const end = term === terms.at(-1) && goesOn(terms) ? '' : ' ';
    const having = texts.flatMap((text, index) => (text.includes(folded(term) + end) ? [index] : []));
    for (const index of having) scores[index] = (scores[index] ?? 0) + Math.log(1 + items.length / having.length);
  }
  return items
    .map((item, index) => ({ ...item, score: scores[index] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score);
}

/** Words in their simplest form, each behind one blank. */
function folded(text: string): string {
  const plain = spaced(text).normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return ` ${plain.match(/[\p{L}\p{N}]+/gu)?.join(' ') ?? ''}`;
}
