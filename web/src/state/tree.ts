import type { Message } from './model.ts';

export type MessageMap = Readonly<Record<string, Message>>;

/** The messages from the first one down to `leaf`. */
export function pathTo(messages: MessageMap, leaf: string | undefined): readonly Message[] {
  const path: Message[] = [];
  const seen = new Set<string>();
  let at = leaf === undefined ? undefined : messages[leaf];
  while (at !== undefined && !seen.has(at.id)) {
    seen.add(at.id);
    path.push(at);
    at = at.parent === null ? undefined : messages[at.parent];
  }
  return path.reverse();
}

/** Children by parent, the oldest first; roots are under null. */
export function childrenOf(messages: MessageMap): ReadonlyMap<string | null, readonly Message[]> {
  const children = new Map<string | null, Message[]>();
  for (const message of Object.values(messages)) {
    const siblings = children.get(message.parent);
    if (siblings === undefined) children.set(message.parent, [message]);
    else siblings.push(message);
  }
  for (const siblings of children.values()) siblings.sort(byAge);
  return children;
}

/** The newest message below `id` on the branch that was worked on last, or `id` itself. */
export function leafBelow(messages: MessageMap, id: string): string {
  const children = childrenOf(messages);
  let at = id;
  for (let depth = 0; depth <= Object.keys(messages).length; depth += 1) {
    const next = children.get(at)?.at(-1);
    if (next === undefined) break;
    at = next.id;
  }
  return at;
}

/** The newest message of all, for chats whose leaf is lost. */
export function newestLeaf(messages: MessageMap): string | undefined {
  return Object.values(messages).sort(byAge).at(-1)?.id;
}

function byAge(a: Message, b: Message): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}
