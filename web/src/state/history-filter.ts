import type { Chat } from './model.ts';

/** Which chats are listed. */
export interface HistoryFilter {
  /** A folder's name; empty: those without one; absent: all. */
  readonly folder?: string;
  /** All of them have to be there. */
  readonly tags: readonly string[];
  readonly isShared: boolean;
}

/** Lists all chats. */
export const noFilter: HistoryFilter = { tags: [], isShared: false };

/** Whether it may leave any chat out. */
export function isFiltering({ folder, tags, isShared }: HistoryFilter): boolean {
  return folder !== undefined || tags.length > 0 || isShared;
}

/** Whether a chat is listed: all that the filter says has to fit. */
export function passes(chat: Chat, { folder, tags, isShared }: HistoryFilter): boolean {
  if (folder !== undefined && (chat.folder ?? '') !== folder) return false;
  if (isShared && chat.share === undefined) return false;
  return tags.every((tag) => chat.tags.includes(tag));
}

/** A name with the number of chats that have it. */
export interface Counted {
  readonly name: string;
  readonly count: number;
}

/** A folder is there as long as a chat is in it. */
export function foldersOf(chats: readonly Chat[]): readonly Counted[] {
  return counted(chats.flatMap(({ folder }) => (folder === undefined ? [] : [folder])));
}

/** The tags that any chat has. */
export function tagsOf(chats: readonly Chat[]): readonly Counted[] {
  return counted(chats.flatMap(({ tags }) => tags));
}

function counted(names: readonly string[]): readonly Counted[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => ({ name, count })).sort((a, b) => a.name.localeCompare(b.name));
}

/** What a person typed as the name of a folder or a tag; empty where that is no name. */
export function cleanName(typed: string): string {
  return typed.replace(/\s+/g, ' ').trim().slice(0, 60);
}

/** The chats as they are to be kept when they are put into `folder` and get and lose tags; those that change only. */
export function organised(
  chats: readonly Chat[],
  change: { readonly folder?: string; readonly add: readonly string[]; readonly remove: readonly string[] },
): readonly Chat[] {
  const removed = new Set(change.remove);
  return chats.flatMap((chat): Chat[] => {
    const tags = [...new Set([...chat.tags.filter((tag) => !removed.has(tag)), ...change.add])];
    const folder = change.folder ?? chat.folder ?? '';
    const isSame = folder === (chat.folder ?? '') && tags.join('\n') === chat.tags.join('\n');
    if (isSame) return [];
    const { folder: _, ...rest } = chat;
    return [folder === '' ? { ...rest, tags } : { ...rest, folder, tags }];
  });
}
