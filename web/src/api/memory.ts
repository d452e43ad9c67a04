import { BACKEND, deleteAt, getJson, postJson } from './http.ts';

/** A remembered statement. */
export interface Remembered {
  readonly id: string;
  readonly memory: string;
  readonly role: string;
  readonly conversation_id: string | null;
  readonly created_at: string;
}

interface RememberedPage {
  readonly count: number;
  /** The number of the next page, counted from 1. */
  readonly next: number | null;
  readonly results: readonly Remembered[];
}

const PAGE_SIZE = 50;

/** The newest first; with `search` what fits best first. */
export function listMemory(
  user: string,
  { search, page }: { readonly search: string; readonly page: number },
  signal: AbortSignal,
): Promise<RememberedPage> {
  const query = new URLSearchParams({ page: String(page), page_size: String(PAGE_SIZE) });
  if (search.trim() !== '') query.set('search', search.trim());
  return getJson(`${addressOf(user)}?${query}`, { signal });
}

/** `chat`: where it was said. */
export async function addMemory(user: string, text: string, chat?: { id: string; title: string }): Promise<void> {
  const about = chat === undefined ? {} : { id: chat.id, title: chat.title };
  await postJson(addressOf(user), { items: [{ role: 'user', content: text }], ...about });
}

/** Forgets one item; without `item`, all of them. */
export async function deleteMemory(user: string, item?: string): Promise<void> {
  await deleteAt(addressOf(user) + (item === undefined ? '' : `/${encodeURIComponent(item)}`));
}

function addressOf(user: string): string {
  return `${BACKEND}/memory/${encodeURIComponent(user)}`;
}
