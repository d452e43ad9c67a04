import { beginning } from '../../i18n/beginning.ts';
import { type Chat, type Message, newId, type Source, type TextPart, type ToolCall } from '../../state/model.ts';

/** A message of an export, in its own names. Parents that are not there, and those without content, are skipped over. */
export interface ImportedMessage {
  readonly id: string;
  readonly parent: string | null;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  readonly createdAt?: number | undefined;
  readonly reasoning?: string | undefined;
  readonly model?: string | undefined;
  readonly toolCalls?: readonly ToolCall[] | undefined;
  readonly sources?: readonly Source[] | undefined;
}

/** A chat of an export. */
export interface ImportedChat {
  /** The id of the other program, by which a second import of the same file is known. */
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly created?: number | undefined;
  readonly updated?: number | undefined;
  readonly folder?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly pinned?: boolean | undefined;
  readonly system?: string | undefined;
  readonly model?: string | undefined;
  readonly messages: readonly ImportedMessage[];
  /** The last message of the branch that was shown. */
  readonly leaf?: string | undefined;
  /** Pictures and files that an export only mentions. */
  readonly leftOut?: number | undefined;
}

/** A chat as this page keeps it. */
export interface WholeChat {
  readonly chat: Chat;
  readonly messages: readonly Message[];
}

/** Undefined: there is nothing in it. */
export function toWholeChat(imported: ImportedChat, now: number): WholeChat | undefined {
  const kept = keptOnes(imported.messages);
  if (kept.length === 0) return undefined;
  const created = imported.created ?? kept.find(({ createdAt }) => createdAt !== undefined)?.createdAt ?? now;
  const updated = imported.updated ?? Math.max(created, ...kept.map(({ createdAt = 0 }) => createdAt));
  const id = /^[\w-]{8,64}$/.test(imported.id ?? '') ? String(imported.id) : newId();
  const ids = new Map(kept.map((message) => [message.id, newId()]));
  const messages = kept.map((message, index) => toMessage(message, id, ids, message.createdAt ?? created + index));
  const leaf = ids.get(nearestKept(imported, ids) ?? '');
  const chat: Chat = {
    id,
    title: beginning((imported.title ?? kept.find(({ role }) => role === 'user')?.text ?? '').trim(), 200),
    // Whatever name it had there, it shall not change by itself here.
    titleBy: imported.title === undefined ? 'question' : 'person',
    created,
    updated,
    tags: [...new Set(imported.tags ?? [])],
    pinned: imported.pinned ?? false,
    ...(imported.folder === undefined ? {} : { folder: imported.folder }),
    ...(imported.system === undefined ? {} : { system: imported.system }),
    ...(leaf === undefined ? {} : { leaf }),
  };
  return { chat, messages };
}

/** The messages with content, each below its nearest ancestor that has some; what an answer consists of is one message. */
function keptOnes(messages: readonly ImportedMessage[]): ImportedMessage[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const parents = new Map<string, string | null>();
  const parentOf = (message: ImportedMessage): string | null => {
    const seen = new Set([message.id]);
    let at = message.parent;
    while (at !== null && !seen.has(at)) {
      seen.add(at);
      const parent = byId.get(at);
      if (parent === undefined) return null;
      if (hasContent(parent)) return parent.id;
      at = parent.parent;
    }
    return null;
  };
  const kept = messages.filter(hasContent);
  for (const message of kept) parents.set(message.id, parentOf(message));
  openRings(parents);
  return kept.map((message) => ({ ...message, parent: parents.get(message.id) ?? null }));
}

/** A ring of parents would be nowhere in the tree: it is opened where it is met. */
function openRings(parents: Map<string, string | null>): void {
  const safe = new Set<string>();
  for (const id of parents.keys()) {
    const trail = new Set<string>();
    let at: string | null = id;
    while (at !== null && !safe.has(at)) {
      trail.add(at);
      const next: string | null = parents.get(at) ?? null;
      if (next !== null && trail.has(next)) {
        parents.set(at, null);
        break;
      }
      at = next;
    }
    for (const each of trail) safe.add(each);
  }
}

function hasContent({ text, reasoning, toolCalls = [] }: ImportedMessage): boolean {
  return text.trim() !== '' || reasoning !== undefined || toolCalls.length > 0;
}

/** The leaf, or what is left of the way up from it. */
function nearestKept({ messages, leaf }: ImportedChat, kept: ReadonlyMap<string, string>): string | undefined {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const seen = new Set<string>();
  let at: string | null | undefined = leaf;
  while (at != null && !seen.has(at) && !kept.has(at)) {
    seen.add(at);
    at = byId.get(at)?.parent;
  }
  if (at != null && kept.has(at)) return at;
  return [...kept.keys()].at(-1);
}

function toMessage(
  message: ImportedMessage,
  chat: string,
  ids: ReadonlyMap<string, string>,
  createdAt: number,
): Message {
  const { role, text, reasoning, model, toolCalls, sources } = message;
  const parts: readonly TextPart[] = text.trim() === '' ? [] : [{ type: 'text', text: text.trim() }];
  const parent = message.parent === null ? null : (ids.get(message.parent) ?? null);
  const base = { id: ids.get(message.id) ?? newId(), chat, parent, role, parts, createdAt };
  if (role === 'user') return base;
  return {
    ...base,
    finish: 'stop',
    ...(model === undefined ? {} : { model }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(toolCalls === undefined || toolCalls.length === 0 ? {} : { toolCalls }),
    ...(sources === undefined || sources.length === 0 ? {} : { sources }),
  };
}

/** Answers that a program stores in pieces (thoughts, tool calls, text) below one another, each as one message. */
export function joinPieces(messages: readonly ImportedMessage[]): readonly ImportedMessage[] {
  const kept = keptOnes(messages);
  const childCount = new Map<string, number>();
  for (const { parent } of kept) if (parent !== null) childCount.set(parent, (childCount.get(parent) ?? 0) + 1);
  const whole = new Map<string, ImportedMessage>();
  /** What a message became part of. */
  const within = new Map<string, string>();
  for (const message of fromTheTop(kept)) {
    const above = message.parent === null ? undefined : whole.get(within.get(message.parent) ?? '');
    const isPiece =
      message.role === 'assistant' && above?.role === 'assistant' && childCount.get(message.parent ?? '') === 1;
    if (above === undefined || !isPiece) {
      whole.set(message.id, { ...message, parent: above?.id ?? null });
      within.set(message.id, message.id);
      continue;
    }
    within.set(message.id, above.id);
    whole.set(above.id, join(above, message));
  }
  // The others keep their names, so that the leaf can still be found.
  const rest = kept.filter(({ id }) => !whole.has(id)).map(({ id }) => ghost(id, within.get(id) ?? null));
  return [...whole.values(), ...rest];
}

function ghost(id: string, parent: string | null): ImportedMessage {
  return { id, parent, role: 'assistant', text: '' };
}

function join(above: ImportedMessage, below: ImportedMessage): ImportedMessage {
  const text = [above.text, below.text].filter((each) => each.trim() !== '').join('\n\n');
  const thoughts = [above.reasoning, below.reasoning].filter((each) => each !== undefined);
  const toolCalls = [...(above.toolCalls ?? []), ...(below.toolCalls ?? [])].map((call, index) => ({ ...call, index }));
  const sources = [...(above.sources ?? []), ...(below.sources ?? [])];
  return { ...above, text, reasoning: joined(thoughts), toolCalls, sources, model: below.model ?? above.model };
}

/** Texts as one; none of them: undefined. */
export function joined(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

/** Parents before their children. */
function fromTheTop(messages: readonly ImportedMessage[]): readonly ImportedMessage[] {
  const children = Map.groupBy(messages, ({ parent }) => parent);
  const ordered: ImportedMessage[] = [];
  const waiting = [...(children.get(null) ?? [])].reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    ordered.push(next);
    waiting.push(...[...(children.get(next.id) ?? [])].reverse());
  }
  return ordered;
}
