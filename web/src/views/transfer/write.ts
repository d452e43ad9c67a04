import type { Chat, Message, Part } from '../../state/model.ts';
import { type MessageMap, newestLeaf, pathTo } from '../../state/tree.ts';
import { OWN_FORMAT, OWN_VERSION, writeOwn } from './forms/own.ts';
import type { WholeChat } from './imported.ts';

/** Words of the language that the export is read in. */
export interface ExportWords {
  readonly you: string;
  readonly answer: string;
  readonly system: string;
  readonly sources: string;
  readonly untitled: string;
}

/** The shown branch of a chat, the way people read it. */
export function toMarkdown({ chat, messages }: WholeChat, words: ExportWords): string {
  const map: MessageMap = Object.fromEntries(messages.map((message) => [message.id, message]));
  const path = pathTo(map, chat.leaf !== undefined && map[chat.leaf] ? chat.leaf : newestLeaf(map));
  const title = (chat.title || words.untitled).replace(/\s+/g, ' ');
  const about = [new Date(chat.created).toISOString().slice(0, 10), chat.folder, ...chat.tags.map((tag) => `#${tag}`)];
  const head = [`# ${title}`, about.filter((each) => each !== undefined).join(' · ')];
  if (chat.system?.trim()) head.push(`**${words.system}:** ${chat.system.trim()}`);
  return `${[...head, ...path.map((message) => messageMarkdown(message, words))].join('\n\n')}\n`;
}

function messageMarkdown(message: Message, words: ExportWords): string {
  const by = [message.model, message.label ?? message.provider].filter((each) => each !== undefined && each !== '');
  const head =
    message.role === 'user' ? words.you : by.length > 0 ? `${words.answer} (${by.join(', ')})` : words.answer;
  const pieces = [`## ${head}`];
  const body = message.parts.map(partMarkdown).filter((each) => each.trim() !== '');
  pieces.push(...body);
  if (message.sources !== undefined && message.sources.length > 0) {
    const list = message.sources.map(({ url, title }) => `- [${(title ?? url).replace(/[[\]]/g, '')}](<${url}>)`);
    pieces.push(`**${words.sources}**\n\n${list.join('\n')}`);
  }
  return pieces.join('\n\n');
}

/** A part of a message as text. Of files only the name: their addresses are keys to them. */
export function partMarkdown(part: Part): string {
  if (part.type === 'text') return part.text.trim();
  if (part.type === 'file') return `📎 ${part.name}`;
  const label = part.alt ?? part.url.slice(0, 80);
  return part.kind === 'image' ? `![${label}](${part.url})` : `[${label}](${part.url})`;
}

/**
 * Our own export, with all branches: what it says can be imported again. In pieces, since it may be long. The members of `more`, which
 * no import reads, stand behind the chats.
 */
export function toJson(chats: readonly WholeChat[], exported: Date, more: object = {}): string[] {
  const head = { format: OWN_FORMAT, version: OWN_VERSION, exported: exported.toISOString() };
  const pieces = [`${JSON.stringify(head).slice(0, -1)},"chats":[`];
  chats.forEach((whole, index) => {
    pieces.push(index === 0 ? '\n' : ',\n', JSON.stringify(writeOwn(whole)));
  });
  const members = JSON.stringify(more).slice(1, -1);
  return [...pieces, '\n]', members === '' ? '' : `,${members}`, '}\n'];
}

/** A name for a file: the title as far as file systems take it. `taken` makes it another one than those before. */
export function fileName(chat: Chat, extension: string, untitled: string, taken: Set<string> = new Set()): string {
  const base =
    (chat.title || untitled)
      .replace(/[^\p{L}\p{M}\p{N}\p{Extended_Pictographic} ._-]+/gu, ' ')
      .replace(/\s+/g, ' ')
      .trim()
      .replace(/^[. ]+|(?<![. ])[. ]+$/g, '')
      .slice(0, 60)
      .trim() || untitled;
  let name = `${base}.${extension}`;
  for (let count = 2; taken.has(name.toLowerCase()); count += 1) name = `${base} (${count}).${extension}`;
  taken.add(name.toLowerCase());
  return name;
}
