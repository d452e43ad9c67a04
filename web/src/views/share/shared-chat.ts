import type { Chat, Message } from '../../state/model.ts';
import type { ImportedChat } from '../transfer/imported.ts';
import { type Loose, objectOf, objectsOf, textIn, timeIn } from '../transfer/lenient.ts';
import { partMarkdown } from '../transfer/write.ts';

/** What one shares: the branch that is shown, as text. Front ends of dialect A share chats in this shape. */
export interface SharedBody {
  readonly id: string;
  readonly share: string;
  readonly title: string;
  /** Milliseconds; the version, which only ever grows. */
  readonly added: number;
  readonly updated: number;
  readonly items: readonly {
    readonly role: 'user' | 'assistant';
    readonly content: string;
    readonly provider?: string;
    readonly model?: string;
  }[];
  /** An answer is on its way. */
  readonly running: boolean;
}

/** The system prompt, thoughts, tool calls and attached files stay with whoever shares. */
export function toShared(
  { title, created }: Chat,
  share: string,
  path: readonly Message[],
  isRunning: boolean,
  now: number,
): SharedBody {
  return {
    id: share,
    share,
    title,
    added: created,
    updated: now,
    items: path
      .filter(({ parts }) => parts.length > 0)
      .map(({ role, parts, label, provider, model }) => ({
        role,
        content: parts.map(partMarkdown).join('\n\n'),
        ...((label ?? provider) ? { provider: label ?? provider ?? '' } : {}),
        ...(model === undefined ? {} : { model }),
      })),
    running: isRunning,
  };
}

/** A message as it is read. `text` is markdown, of whomever. */
export interface SharedMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** Model and provider. */
  readonly by: string;
}

/** A shared chat as it is read. */
export interface SharedChat {
  readonly title: string;
  readonly messages: readonly SharedMessage[];
  readonly isRunning: boolean;
}

/** Whoever wrote it, it may be anything. */
export function readShared(body: unknown): SharedChat {
  const shared = objectOf(body);
  const messages = itemsOf(shared).map((item): SharedMessage => {
    const by = [textIn(item['model']), textIn(item['provider']) ?? textIn(objectOf(item['provider'])['label'])];
    return {
      role: item['role'] === 'user' ? 'user' : 'assistant',
      text: contentOf(item),
      by: [...new Set(by.filter((each) => each !== undefined))].join(' · '),
    };
  });
  return { title: textIn(shared['title']) ?? '', messages, isRunning: shared['running'] === true };
}

function itemsOf(shared: Loose): readonly Loose[] {
  const items = objectsOf(shared['items'] ?? shared['messages']);
  return items.filter((item) => (item['role'] === 'user' || item['role'] === 'assistant') && contentOf(item) !== '');
}

function contentOf(item: Loose): string {
  const { content } = item;
  if (typeof content === 'string') return content;
  return objectsOf(content)
    .flatMap((part) => textIn(part['text']) ?? textIn(part['name']) ?? [])
    .join('\n\n');
}

/** A shared chat as one's own, to go on with. */
export function toOwn(body: unknown): ImportedChat {
  const shared = objectOf(body);
  const { title, messages } = readShared(body);
  const items = itemsOf(shared);
  return {
    title: title || undefined,
    created: timeIn(shared['added']),
    messages: messages.map(({ role, text }, index) => ({
      id: String(index),
      parent: index === 0 ? null : String(index - 1),
      role,
      text,
      model: textIn(items[index]?.['model']),
    })),
    leaf: String(messages.length - 1),
  };
}
