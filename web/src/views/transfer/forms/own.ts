import {
  type Chat,
  type Failure,
  type FilePart,
  type MediaPart,
  type Message,
  newId,
  type Part,
  type Side,
  type Source,
  type TextPart,
  type Timing,
  type ToolCall,
  type Usage,
} from '../../../state/model.ts';
import { toSetup } from '../../../state/setup.ts';
import type { WholeChat } from '../imported.ts';
import { isLoose, type Loose, listOf, objectsOf, textIn, timeIn } from '../lenient.ts';
import {
  type Context,
  figure,
  flag,
  type Members,
  many,
  needed,
  one,
  portable,
  readMembers,
  text,
  word,
} from '../members.ts';

/** What our own export says of itself. */
export const OWN_FORMAT = 'sluice-chats';
/** Written into each export. */
export const OWN_VERSION = 1;

const SIDE: Members<Side> = { provider: needed(text), model: needed(text), leaf: known };

const CHAT: Members<Chat> = {
  id: (value) => (/^[\w-]{8,64}$/.test(text(value) ?? '') ? String(value) : newId()),
  title: (value) => textIn(value) ?? '',
  titleBy: (value, context) => word('question', 'model')(value, context) ?? 'person',
  created: (value, { since }) => timeIn(value) ?? since,
  updated: (value, { since }) => timeIn(value) ?? since,
  folder: textIn,
  tags: (value) => textsIn(value) ?? [],
  pinned: (value) => value === true,
  system: textIn,
  model: text,
  provider: text,
  parameters: (value) => toSetup({ parameters: value }).parameters,
  leaf: known,
  conversation: (value) => (isLoose(value) ? value : undefined),
  memory: (value) => (typeof value === 'boolean' ? value : undefined),
  sides: (value, context) => {
    const sides = many(SIDE)(value, context);
    return sides?.length === 2 ? sides : undefined;
  },
  unread: flag,
  share: 'local',
};

const USAGE: Members<Usage> = {
  promptTokens: needed(figure),
  completionTokens: needed(figure),
  totalTokens: needed(figure),
  cachedTokens: figure,
  reasoningTokens: figure,
};

const TIMING: Members<Timing> = {
  asked: needed(figure),
  first: figure,
  ended: figure,
  reasoningFrom: figure,
  reasoning: figure,
};

const TOOL_CALL: Members<ToolCall> = {
  index: (value) => figure(value) ?? 0,
  id: (value) => text(value) ?? '',
  name: needed(text),
  arguments: (value) => text(value) ?? '{}',
  result: text,
};

const SOURCE: Members<Source> = { url: needed(text), title: textIn, text: textIn };

const FAILURE: Members<Failure> = {
  message: (value) => text(value) ?? '',
  code: textIn,
  status: figure,
  retryAt: figure,
  needsKey: flag,
};

const PARTS: { readonly [Type in Part['type']]: Members<Extract<Part, { type: Type }>> } = {
  text: { type: () => 'text', text: needed(text) } satisfies Members<TextPart>,
  media: {
    type: () => 'media',
    kind: needed(word('image', 'audio', 'video')),
    url: needed(text),
    alt: textIn,
    width: figure,
    height: figure,
  } satisfies Members<MediaPart>,
  file: {
    type: () => 'file',
    // The id becomes part of addresses.
    bucketId: needed((value) => (/^[\w-]{1,64}$/.test(text(value) ?? '') ? String(value) : undefined)),
    name: needed(text),
    media: textIn,
    kind: needed(word('image', 'audio', 'video', 'document')),
    size: figure,
  } satisfies Members<FilePart>,
};

const MESSAGE: Members<Omit<Message, 'chat'>> = {
  id: (value, { ids }) => ids.get(String(value)) ?? newId(),
  parent: (value, context) => known(value, context) ?? null,
  role: (value) => (value === 'user' ? 'user' : 'assistant'),
  parts: (value, context) => objectsOf(value).flatMap((part) => toPart(part, context)),
  createdAt: (value, { since }) => timeIn(value) ?? since,
  provider: text,
  label: textIn,
  model: text,
  usage: one(USAGE),
  usageBefore: one(USAGE),
  timing: one(TIMING),
  reasoning: textIn,
  toolCalls: (value, context) =>
    many(TOOL_CALL)(
      objectsOf(value).map((call, index) => ({ index, ...call })),
      context,
    ),
  sources: many(SOURCE),
  memories: figure,
  suggestions: textsIn,
  edited: flag,
  notes: textsIn,
  preview: textIn,
  error: one(FAILURE),
  // There is no stream to go back to: what broke off stays so.
  streamId: 'local',
  lastEvent: 'local',
  finish: textIn,
};

/** A chat with all its branches, without what is only true of this browser. */
export function writeOwn({ chat, messages }: WholeChat): object {
  return { ...portable(CHAT, chat), messages: messages.map(({ chat: _, ...message }) => portable(MESSAGE, message)) };
}

/**
 * A chat of our own export. It may come from anybody, so everything in it is looked at; a chat whose messages are of another
 * make is not ours. Ids of messages are made anew, since they name rows of one table for all chats.
 */
export function readOwn(entry: Loose, now: number): WholeChat | undefined {
  const listed = objectsOf(entry['messages']).filter((message) => textIn(message['id']) !== undefined);
  const ids = new Map(listed.map((message) => [String(message['id']), newId()]));
  const context = { ids, since: timeIn(entry['created']) ?? now };
  const chat = readMembers(CHAT, entry, context);
  if (chat === undefined || listed.length === 0) return undefined;
  const messages = listed.flatMap((message) => readMembers(MESSAGE, message, context) ?? []);
  return { chat, messages: messages.map((message) => ({ ...message, chat: chat.id })) };
}

function toPart(entry: Loose, context: Context): readonly Part[] {
  const { type, name } = entry;
  if (type !== 'text' && type !== 'media' && type !== 'file') return [];
  const part = readMembers(PARTS[type] as Members<Part>, entry, context);
  if (part !== undefined) return [part];
  return type === 'file' && typeof name === 'string' ? [{ type: 'text', text: name }] : [];
}

/** The new id of a message that the file names. */
function known(value: unknown, { ids }: Context): string | undefined {
  return ids.get(String(value));
}

function textsIn(value: unknown): readonly string[] | undefined {
  const texts = listOf(value).flatMap((each) => textIn(each) ?? []);
  return texts.length === 0 ? undefined : texts;
}
