import type { ImportedMessage } from '../imported.ts';
import { type Loose, listOf, objectOf, objectsOf, textIn, timeIn } from '../lenient.ts';
import type { Form } from './form.ts';

/**
 * A list of `{role, content}` under `messages` or `items`, as requests to a model have it, chatbot-ui writes it, and front
 * ends of dialect A share it.
 */
export const plain: Form = {
  name: 'JSON',
  fits: (entry) => listIn(entry).some((each) => textIn(each['role']) !== undefined),
  read: (entry) => {
    const list = listIn(entry);
    let leftOut = 0;
    const said = list.filter(({ role }) => role === 'user' || role === 'assistant');
    const messages = said.map((message, index): ImportedMessage => {
      const parts = listOf(message['content']);
      const texts = parts.flatMap((part) => textIn(objectOf(part)['text']) ?? textIn(part) ?? []);
      leftOut += parts.length - texts.length;
      const model = textIn(message['model']);
      const reasoning = textIn(message['reasoning']) ?? textIn(message['reasoning_content']);
      const createdAt = timeIn(message['created']) ?? timeIn(message['created_at']) ?? timeIn(message['timestamp']);
      return {
        id: String(index),
        parent: index === 0 ? null : String(index - 1),
        role: message['role'] === 'user' ? 'user' : 'assistant',
        text: textIn(message['content']) ?? texts.join('\n\n'),
        createdAt,
        model,
        reasoning,
      };
    });
    const first = list.find(({ role }) => role === 'system' || role === 'developer');
    return {
      id: textIn(entry['id']),
      title: textIn(entry['title']) ?? textIn(entry['name']),
      created: timeIn(entry['created']) ?? timeIn(entry['created_at']) ?? timeIn(entry['added']),
      updated: timeIn(entry['updated']) ?? timeIn(entry['updated_at']),
      system: textIn(entry['system']) ?? textIn(entry['prompt']) ?? textIn(first?.['content']),
      model: textIn(entry['model']) ?? textIn(objectOf(entry['model'])['id']),
      messages,
      leaf: messages.at(-1)?.id,
      leftOut,
    };
  },
};

function listIn(entry: Loose): readonly Loose[] {
  return objectsOf(entry['messages'] ?? entry['items']);
}
