import type { Source } from '../../../state/model.ts';
import { type ImportedMessage, joined, joinPieces } from '../imported.ts';
import { isLoose, type Loose, listOf, objectOf, objectsOf, textIn, timeIn } from '../lenient.ts';
import type { Form } from './form.ts';

/** `conversations.json` of ChatGPT's data export: a tree of nodes under `mapping`, times in seconds. */
export const chatGpt: Form = {
  name: 'ChatGPT',
  fits: (entry) => isLoose(entry['mapping']),
  read: (entry) => {
    let leftOut = 0;
    const messages = Object.entries(objectOf(entry['mapping'])).map(([id, node]): ImportedMessage => {
      const { parent, message } = objectOf(node);
      const read = readMessage(objectOf(message));
      leftOut += read.leftOut;
      return { id, parent: textIn(parent) ?? null, ...read.message };
    });
    const model = textIn(entry['default_model_slug']);
    return {
      id: textIn(entry['conversation_id']) ?? textIn(entry['id']),
      title: textIn(entry['title']),
      created: timeIn(entry['create_time']),
      updated: timeIn(entry['update_time']),
      pinned: entry['is_starred'] === true,
      model,
      messages: joinPieces(messages),
      leaf: textIn(entry['current_node']),
      leftOut,
    };
  },
};

type Content = Pick<ImportedMessage, 'text' | 'reasoning' | 'toolCalls'> & { readonly leftOut: number };

function readMessage(message: Loose): {
  readonly message: Omit<ImportedMessage, 'id' | 'parent'>;
  readonly leftOut: number;
} {
  const metadata = objectOf(message['metadata']);
  const author = objectOf(message['author'])['role'];
  const isHidden =
    metadata['is_visually_hidden_from_conversation'] === true || (author !== 'user' && author !== 'assistant');
  const role = author === 'user' ? 'user' : 'assistant';
  if (isHidden) return { message: { role, text: '' }, leftOut: 0 };
  const { leftOut, ...content } = readContent(objectOf(message['content']), message['recipient']);
  const createdAt = timeIn(message['create_time']);
  const model = textIn(metadata['model_slug']);
  return {
    message: {
      role,
      ...content,
      text: role === 'user' ? content.text : withoutMarks(content.text, metadata),
      createdAt,
      model,
      sources: readSources(metadata),
    },
    leftOut,
  };
}

/** Where citations, names and the like stand in an answer: of each the kind and more, between letters that no font has. */
const MARK = / ?(\ue200[^\ue200\ue201]*\ue201)/g;
/** The same in older answers. */
const OLD_MARK = / ?【\d+(?::\d+)?†[^【】\n]*】/g;
const ENTITY = /^\ue200entity\ue202\["[^"]*",\s*"([^"\\]*)"/;

/** An answer with what ChatGPT shows in place of its marks, which would be gibberish here. */
function withoutMarks(text: string, metadata: Loose): string {
  const shown = new Map(
    objectsOf(metadata['content_references']).map(({ matched_text, alt }) => [matched_text, textIn(alt)]),
  );
  const inPlace = (whole: string, mark: string): string => {
    const words = shown.get(mark) ?? ENTITY.exec(mark)?.[1];
    return words === undefined ? '' : whole.replace(mark, () => words);
  };
  return text
    .replace(MARK, inPlace)
    .replace(/[\ue200-\ue206]/g, '')
    .replace(OLD_MARK, '');
}

function readSources(metadata: Loose): readonly Source[] {
  const cited = objectsOf(metadata['citations']).map((citation) => objectOf(citation['metadata']));
  const referred = objectsOf(metadata['content_references']).flatMap(({ items, sources }) => [
    ...objectsOf(items),
    ...objectsOf(sources),
  ]);
  const found = new Map<string, Source>();
  for (const { url, title } of [...cited, ...referred]) {
    if (typeof url !== 'string' || found.has(url)) continue;
    found.set(url, { url, ...(typeof title === 'string' ? { title } : {}) });
  }
  return [...found.values()];
}

/** https://help.openai.com/en/articles/7260999 says how to get the export; what is in it is only known from exports. */
function readContent(content: Loose, recipient: unknown): Content {
  const type = content['content_type'];
  if (type === 'thoughts') {
    const thoughts = objectsOf(content['thoughts']).map((thought) =>
      [textIn(thought['summary']), textIn(thought['content'])].filter((each) => each !== undefined).join('\n\n'),
    );
    return { text: '', reasoning: joined(thoughts), leftOut: 0 };
  }
  if (type === 'reasoning_recap' || type === 'user_editable_context' || type === 'model_editable_context') {
    return { text: '', leftOut: 0 };
  }
  const code = textIn(content['text']);
  // What went to a tool is not for people to read as an answer.
  if (code !== undefined && typeof recipient === 'string' && recipient !== 'all') {
    return { text: '', toolCalls: [{ index: 0, id: '', name: recipient, arguments: code }], leftOut: 0 };
  }
  if (type === 'code' && code !== undefined) {
    const language = textIn(content['language']);
    const label = language === undefined || language === 'unknown' ? '' : language;
    return { text: `\`\`\`${label}\n${code}\n\`\`\``, leftOut: 0 };
  }
  const parts = listOf(content['parts']);
  const texts = parts.flatMap((part) => textIn(part) ?? textIn(objectOf(part)['text']) ?? []);
  const leftOut = parts.filter((part) => isLoose(part) && textIn(part['text']) === undefined).length;
  return { text: texts.length > 0 ? texts.join('\n\n') : (code ?? ''), leftOut };
}
