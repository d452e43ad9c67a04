import type { ToolCall } from '../../../state/model.ts';
import { type ImportedMessage, joined } from '../imported.ts';
import { type Loose, listOf, objectOf, objectsOf, textIn, timeIn } from '../lenient.ts';
import type { Form } from './form.ts';

const NO_PARENT = /^0{8}-0{4}-/;

/** LibreChat's export of a conversation: messages in a list, or in a tree of `children`. */
export const libreChat: Form = {
  name: 'LibreChat',
  fits: (entry) =>
    textIn(entry['conversationId']) !== undefined &&
    (Array.isArray(entry['messages']) || Array.isArray(entry['messagesTree'])),
  read: (entry) => {
    const options = objectOf(entry['options']);
    const messages: ImportedMessage[] = [];
    let leftOut = 0;
    // Not by recursion: a long chat is as deep as it is long.
    const waiting: { readonly message: Loose; readonly above: string | null }[] = [];
    const add = (list: unknown, above: string | null): void => {
      for (const message of [...objectsOf(list)].reverse()) waiting.push({ message, above });
    };
    add(entry['messagesTree'] ?? entry['messages'], null);
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { message, above } = next;
      const id = textIn(message['messageId']) ?? `${messages.length}`;
      const named = textIn(message['parentMessageId']);
      const parent = above ?? (named === undefined || NO_PARENT.test(named) ? null : named);
      leftOut += listOf(message['files']).length;
      messages.push({ id, parent, ...readMessage(message) });
      add(message['children'], id);
    }
    const newest = [...messages].sort((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0)).at(-1);
    return {
      id: textIn(entry['conversationId']),
      title: textIn(entry['title']),
      tags: listOf(entry['tags']).flatMap((tag) => textIn(tag) ?? []),
      system: textIn(options['promptPrefix']) ?? textIn(options['system']),
      model: textIn(options['model']),
      messages,
      leaf: newest?.id,
      leftOut,
    };
  },
};

function readMessage(message: Loose): Omit<ImportedMessage, 'id' | 'parent'> {
  const createdAt = timeIn(message['createdAt']);
  const model = textIn(message['model']);
  const content = objectsOf(message['content']);
  const textOrValue = (value: unknown): string => textIn(value) ?? textIn(objectOf(value)['value']) ?? '';
  const texts = content.filter(({ type }) => type === 'text').map((part) => textOrValue(part['text']));
  const thoughts = content.flatMap((part) => textIn(part['think']) ?? []);
  const toolCalls = content.flatMap((part): ToolCall[] => {
    const call = objectOf(part['tool_call']);
    const name = textIn(call['name']);
    if (name === undefined) return [];
    const result = textIn(call['output']);
    const given = call['args'];
    return [
      {
        index: 0,
        id: textIn(call['id']) ?? '',
        name,
        arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}),
        ...(result === undefined ? {} : { result }),
      },
    ];
  });
  const isUser = message['isCreatedByUser'] === true || textIn(message['sender'])?.toLowerCase() === 'user';
  return {
    role: isUser ? 'user' : 'assistant',
    text: texts.join('\n\n').trim() || (textIn(message['text']) ?? ''),
    createdAt,
    model,
    reasoning: joined(thoughts),
    toolCalls: toolCalls.map((call, index) => ({ ...call, index })),
  };
}
