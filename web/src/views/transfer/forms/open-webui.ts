import type { Source, ToolCall } from '../../../state/model.ts';
import { type ImportedMessage, joined } from '../imported.ts';
import { isLoose, type Loose, listOf, objectOf, objectsOf, textIn, timeIn } from '../lenient.ts';
import type { Form } from './form.ts';

/** Open WebUI's export of chats: the tree is under `chat.history.messages`, times in seconds. */
export const openWebUi: Form = {
  name: 'Open WebUI',
  fits: (entry) => isLoose(entry['chat']) || isLoose(objectOf(entry['history'])['messages']),
  read: (entry) => {
    const chat = isLoose(entry['chat']) ? entry['chat'] : entry;
    const history = objectOf(chat['history']);
    const tree = Object.entries(objectOf(history['messages']));
    const listed = tree.length > 0 ? tree : objectsOf(chat['messages']).map((each, index) => [String(index), each]);
    let before: string | null = null;
    let leftOut = 0;
    const messages = listed.map(([name, value]): ImportedMessage => {
      const message = objectOf(value);
      const id = textIn(message['id']) ?? String(name);
      const parent = textIn(message['parentId']) ?? (tree.length > 0 ? null : before);
      before = id;
      leftOut += listOf(message['files']).length;
      return { id, parent, ...readMessage(message) };
    });
    const tags = [...listOf(objectOf(entry['meta'])['tags']), ...listOf(chat['tags'])];
    return {
      id: textIn(entry['id']),
      title: textIn(entry['title']) ?? textIn(chat['title']),
      created: timeIn(entry['created_at']) ?? timeIn(chat['timestamp']),
      updated: timeIn(entry['updated_at']),
      pinned: entry['pinned'] === true,
      tags: tags.flatMap((tag) => textIn(tag) ?? textIn(objectOf(tag)['name']) ?? []),
      system: textIn(chat['system']) ?? textIn(objectOf(chat['params'])['system']),
      model: textIn(listOf(chat['models'])[0]),
      messages,
      leaf: textIn(history['currentId']) ?? before ?? undefined,
      leftOut,
    };
  },
};

function readMessage(message: Loose): Omit<ImportedMessage, 'id' | 'parent'> {
  const createdAt = timeIn(message['timestamp']);
  const model = textIn(message['model']);
  const role = message['role'] === 'user' ? 'user' : 'assistant';
  const content = textIn(message['content']) ?? '';
  if (role === 'user') return { role, text: content, createdAt };
  const output = readOutput(objectsOf(message['output']));
  const written = withoutDetails(content);
  const reasoning = output.reasoning ?? written.reasoning;
  const sources = objectsOf(message['sources']).flatMap(toSources);
  return {
    role,
    text: output.text ?? written.text,
    createdAt,
    model,
    reasoning,
    toolCalls: output.toolCalls,
    sources,
  };
}

/** Newer versions keep the items of the answer, in the words of OpenAI's Responses. */
function readOutput(items: readonly Loose[]): {
  readonly text: string | undefined;
  readonly reasoning: string | undefined;
  readonly toolCalls: readonly ToolCall[];
} {
  const textsOf = (item: Loose, name: string): string =>
    objectsOf(item[name])
      .flatMap((part) => textIn(part['text']) ?? [])
      .join('\n\n');
  const of = (type: string): readonly Loose[] => items.filter((item) => item['type'] === type);
  const text = of('message').map((item) => textsOf(item, 'content'));
  const reasoning = of('reasoning')
    .map((item) => textsOf(item, 'content') || textsOf(item, 'summary'))
    .filter((each) => each !== '');
  const toolCalls = of('function_call').map((item, index): ToolCall => {
    const answer = of('function_call_output').find((each) => each['call_id'] === item['call_id']);
    const result = answer === undefined ? '' : textsOf(answer, 'output');
    return {
      index,
      id: textIn(item['call_id']) ?? '',
      name: textIn(item['name']) ?? '',
      arguments: textIn(item['arguments']) ?? '{}',
      ...(result === '' ? {} : { result }),
    };
  });
  return {
    toolCalls,
    text: joined(text),
    reasoning: joined(reasoning),
  };
}

const DETAILS = /<details\b([^>]*)>\s*(?:<summary>[^<]*<\/summary>)?([\s\S]*?)<\/details>/g;

/** Older versions write thoughts and tools into the text, as folded HTML. */
function withoutDetails(content: string): { readonly text: string; readonly reasoning: string | undefined } {
  const thoughts: string[] = [];
  const text = content.replace(DETAILS, (whole, attributes: string, inner: string) => {
    const type = /type="(\w+)"/.exec(attributes)?.[1];
    if (type === undefined) return whole;
    if (type === 'reasoning') thoughts.push(unescaped(inner).replace(/^> ?/gm, '').trim());
    return '';
  });
  return { text: text.trim(), reasoning: joined(thoughts) };
}

function unescaped(html: string): string {
  return html.replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

function toSources(entry: Loose): Source[] {
  const { url, name } = objectOf(entry['source']);
  const own = textIn(url);
  const listed = objectsOf(entry['metadata']).flatMap((each) => textIn(each['source']) ?? []);
  const urls = [...(own === undefined ? [] : [own]), ...listed].filter((each) => /^https?:/i.test(each));
  const title = textIn(name);
  return [...new Set(urls)].map((each) => ({ url: each, ...(title === undefined ? {} : { title }) }));
}
