import type { ToolCall } from '../../../state/model.ts';
import { type ImportedMessage, joined } from '../imported.ts';
import { type Loose, objectsOf, textIn, timeIn } from '../lenient.ts';
import type { Form } from './form.ts';

const NO_PARENT = /^0{8}-0{4}-/;

/** `conversations.json` of Claude's data export: messages in their order, in newer ones with their parents. */
export const claude: Form = {
  name: 'Claude',
  fits: (entry) => Array.isArray(entry['chat_messages']),
  read: (entry) => {
    let before: string | null = null;
    let leftOut = 0;
    const messages = objectsOf(entry['chat_messages']).map((message, index): ImportedMessage => {
      const id = textIn(message['uuid']) ?? String(index);
      const named = textIn(message['parent_message_uuid']);
      const parent = named === undefined ? before : NO_PARENT.test(named) ? null : named;
      before = id;
      leftOut += objectsOf(message['files']).length;
      return { id, parent, ...readMessage(message) };
    });
    return {
      id: textIn(entry['uuid']),
      title: textIn(entry['name']),
      created: timeIn(entry['created_at']),
      updated: timeIn(entry['updated_at']),
      pinned: entry['is_starred'] === true,
      model: textIn(entry['model']),
      messages,
      leaf: textIn(entry['current_leaf_message_uuid']) ?? before ?? undefined,
      leftOut,
    };
  },
};

function readMessage(message: Loose): Omit<ImportedMessage, 'id' | 'parent'> {
  const role = message['sender'] === 'human' ? 'user' : 'assistant';
  const blocks = objectsOf(message['content']);
  const of = (type: string): readonly Loose[] => blocks.filter((block) => block['type'] === type);
  const texts = of('text').flatMap((block) => textIn(block['text']) ?? []);
  const thoughts = of('thinking').flatMap((block) => textIn(block['thinking']) ?? []);
  const results = of('tool_result');
  const toolCalls = of('tool_use').map((block, index): ToolCall => {
    const result = results.find((each) => each['tool_use_id'] === block['id']);
    const text = objectsOf(result?.['content']).flatMap((each) => textIn(each['text']) ?? []);
    return {
      index,
      id: textIn(block['id']) ?? '',
      name: textIn(block['name']) ?? '',
      arguments: JSON.stringify(block['input'] ?? {}),
      ...(text.length === 0 ? {} : { result: text.join('\n\n') }),
    };
  });
  // Of what was attached the text is there.
  const attached = objectsOf(message['attachments']).flatMap((attachment) => {
    const content = textIn(attachment['extracted_content']);
    const name = textIn(attachment['file_name']) ?? '';
    return content === undefined ? [] : [`**${name}**\n\n~~~~\n${content}\n~~~~`];
  });
  const createdAt = timeIn(message['created_at']);
  const text = texts.length > 0 ? texts.join('\n\n') : (textIn(message['text']) ?? '');
  return {
    role,
    text: [...attached, text].filter((each) => each !== '').join('\n\n'),
    createdAt,
    reasoning: joined(thoughts),
    toolCalls,
  };
}
