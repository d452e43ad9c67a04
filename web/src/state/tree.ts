import type { Choice } from './catalog.ts';
import type { Message } from './model.ts';

/** By id. */
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

/** The version of a message that is next to it: the one before rather than the one after. */
export function versionBeside(messages: MessageMap, { id, parent }: Message): string | undefined {
  const versions = childrenOf(messages).get(parent) ?? [];
  const at = versions.findIndex((each) => each.id === id);
  return (versions[at - 1] ?? versions[at + 1])?.id;
}

/** The newest message below `id`, which is where the work went on last; or `id` itself. */
export function leafBelow(messages: MessageMap, id: string): string {
  const children = childrenOf(messages);
  const seen = new Set([id]);
  let newest: Message | undefined;
  let level: readonly Message[] = children.get(id) ?? [];
  while (level.length > 0) {
    for (const message of level) {
      seen.add(message.id);
      // A question and its answer may be of the same millisecond: of equal ones the later level counts.
      if (newest === undefined || message.createdAt >= newest.createdAt) newest = message;
    }
    level = level.flatMap((message) => children.get(message.id) ?? []).filter((message) => !seen.has(message.id));
  }
  return newest?.id ?? id;
}

/** Where the work went on last below the newest beginning, for chats whose leaf is lost. */
export function newestLeaf(messages: MessageMap): string | undefined {
  const roots = Object.values(messages).filter(({ parent }) => parent === null || messages[parent] === undefined);
  const root = roots.sort(byAge).at(-1);
  return root === undefined ? undefined : leafBelow(messages, root.id);
}

/** What a model answered last. */
export function newestAnswer(messages: MessageMap, { provider, model }: Choice): string | undefined {
  const answers = Object.values(messages).filter((message) => message.provider === provider && message.model === model);
  return answers.sort(byAge).at(-1)?.id;
}

function byAge(a: Message, b: Message): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}
