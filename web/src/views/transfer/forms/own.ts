import {
  type Chat,
  type Failure,
  type Message,
  newId,
  type Part,
  type Source,
  type Timing,
  type ToolCall,
  type Usage,
} from '../../../state/model.ts';
import type { WholeChat } from '../imported.ts';
import { isLoose, type Loose, listOf, objectOf, objectsOf, textIn, timeIn } from '../lenient.ts';

/** What our own export says of itself. */
export const OWN_FORMAT = 'sluice-chats';
export const OWN_VERSION = 1;

/**
 * A chat of our own export. It may come from anybody, so everything in it is looked at; a chat whose messages are of another
 * make is not ours. Ids of messages are made anew, since they name rows of one table for all chats.
 */
export function readOwn(entry: Loose, now: number): WholeChat | undefined {
  const id = textIn(entry['id']);
  const listed = objectsOf(entry['messages']).filter((message) => textIn(message['id']) !== undefined);
  const ids = new Map(listed.map((message) => [String(message['id']), newId()]));
  const chatId = id !== undefined && /^[\w-]{8,64}$/.test(id) ? id : newId();
  const messages = listed.map((message) => toMessage(message, chatId, ids, now));
  if (messages.length === 0) return undefined;
  const created = timeIn(entry['created']) ?? now;
  const { folder, system, model, provider } = entry;
  const leaf = ids.get(String(entry['leaf']));
  const by = entry['titleBy'];
  const chat: Chat = {
    id: chatId,
    title: textIn(entry['title']) ?? '',
    titleBy: by === 'question' || by === 'model' ? by : 'person',
    created,
    updated: timeIn(entry['updated']) ?? created,
    tags: listOf(entry['tags']).flatMap((tag) => textIn(tag) ?? []),
    pinned: entry['pinned'] === true,
    ...texts({ folder, system, model, provider }),
    ...(isLoose(entry['parameters']) ? { parameters: entry['parameters'] } : {}),
    ...(typeof entry['memory'] === 'boolean' ? { memory: entry['memory'] } : {}),
    ...(isLoose(entry['conversation']) ? { conversation: entry['conversation'] } : {}),
    ...(leaf === undefined ? {} : { leaf }),
  };
  return { chat, messages };
}

function toMessage(entry: Loose, chat: string, ids: ReadonlyMap<string, string>, now: number): Message {
  const { provider, label, model, reasoning, finish } = entry;
  const sources = objectsOf(entry['sources']).filter((source) => typeof source['url'] === 'string');
  const calls = objectsOf(entry['toolCalls']).filter((call) => typeof call['name'] === 'string');
  const message: Message = {
    id: ids.get(String(entry['id'])) ?? newId(),
    chat,
    parent: ids.get(String(entry['parent'])) ?? null,
    role: entry['role'] === 'user' ? 'user' : 'assistant',
    parts: objectsOf(entry['parts']).flatMap(toPart),
    createdAt: timeIn(entry['createdAt']) ?? now,
  };
  if (message.role === 'user') return message;
  const usage = numbers(entry['usage']);
  const timing = numbers(entry['timing']);
  const failure = entry['error'];
  return {
    ...message,
    // What broke off stays so; there is no stream to go back to.
    ...texts({ provider, label, model, reasoning, finish }),
    ...(entry['edited'] === true ? { edited: true } : {}),
    ...(usage['totalTokens'] === undefined ? {} : { usage: usage as unknown as Usage }),
    ...(timing['asked'] === undefined ? {} : { timing: timing as unknown as Timing }),
    ...(sources.length === 0 ? {} : { sources: sources.map(toSource) }),
    ...(calls.length === 0 ? {} : { toolCalls: calls.map(toToolCall) }),
    ...(isLoose(failure) ? { error: toFailure(failure) } : {}),
  };
}

function toPart(part: Loose): Part[] {
  const { type, kind, url, text, name, bucketId } = part;
  if (type === 'text' && typeof text === 'string') return [{ type, text }];
  if (type === 'media' && typeof url === 'string' && (kind === 'image' || kind === 'audio' || kind === 'video')) {
    return [{ type, kind, url, ...texts({ alt: part['alt'] }) }];
  }
  const isKind = kind === 'image' || kind === 'audio' || kind === 'video' || kind === 'document';
  if (type === 'file' && typeof name === 'string' && typeof bucketId === 'string' && isKind) {
    // The id becomes part of addresses.
    if (!/^[\w-]{1,64}$/.test(bucketId)) return [{ type: 'text', text: name }];
    return [{ type, kind, name, bucketId, ...texts({ media: part['media'] }) }];
  }
  return [];
}

function toSource(source: Loose): Source {
  return { url: String(source['url']), ...texts({ title: source['title'], text: source['text'] }) };
}

function toToolCall(call: Loose, index: number): ToolCall {
  const given = textIn(call['arguments']) ?? '{}';
  return {
    index,
    id: textIn(call['id']) ?? '',
    name: String(call['name']),
    arguments: given,
    ...texts({ result: call['result'] }),
  };
}

function toFailure(failure: Loose): Failure {
  const { message, code } = failure;
  return { message: textIn(message) ?? '', ...texts({ code }) };
}

/** Those members that are texts. */
function texts<Name extends string>(members: Readonly<Record<Name, unknown>>): { readonly [Key in Name]?: string } {
  const entries = Object.entries(members).filter(([, value]) => typeof value === 'string' && value !== '');
  return Object.fromEntries(entries) as { readonly [Key in Name]?: string };
}

function numbers(value: unknown): Readonly<Record<string, number>> {
  const entries = Object.entries(objectOf(value)).filter(([, each]) => typeof each === 'number');
  return Object.fromEntries(entries) as Readonly<Record<string, number>>;
}
