import type { Choice } from './catalog.ts';
import { usesMemory } from './memory.ts';
import type { Chat, FilePart, Message, Part } from './model.ts';
import type { Settings } from './settings.ts';

/** The body of `POST conversation`, but for `resumable`. */
export interface RequestBody {
  readonly messages: readonly { readonly role: string; readonly content: string | readonly object[] }[];
  readonly [field: string]: unknown;
}

interface Turn {
  readonly action: 'next' | 'variant' | 'continue';
  /** Of the message that will hold the answer. */
  readonly id: string;
}

/** What to ask for the next message after `path`, the last of which is the question, or the answer to prolong. */
export function requestBody(
  chat: Chat,
  path: readonly Message[],
  choice: Choice,
  settings: Settings,
  { action, id }: Turn,
): RequestBody {
  const keys = choice.provider === '' ? settings.keys : settings.keys[choice.provider];
  const hasKeys = typeof keys === 'string' || (keys !== undefined && Object.keys(keys).length > 0);
  const system = chat.system?.trim() ? [{ role: 'system', content: chat.system }] : [];
  return {
    ...chat.parameters,
    model: choice.model,
    ...(choice.provider === '' ? {} : { provider: choice.provider }),
    messages: [...system, ...path.flatMap(toWire)],
    conversation_id: chat.id,
    id,
    action,
    ...(chat.conversation === undefined ? {} : { conversation: chat.conversation }),
    ...(hasKeys ? { api_key: keys } : {}),
    ...(settings.webSearch && action !== 'continue' ? { web_search: true } : {}),
    ...(usesMemory(chat, settings) ? { memory: true, user: settings.user } : {}),
  };
}

function toWire({ role, parts }: Message): RequestBody['messages'] {
  if (parts.length === 0) return [];
  if (parts.every((part) => part.type !== 'file')) return [{ role, content: parts.map(asText).join('\n\n') }];
  return [
    {
      role,
      content: parts.map((part) => (part.type === 'file' ? toBucket(part) : { type: 'text', text: asText(part) })),
    },
  ];
}

/** Media of an answer go back as what they were in its text: the model cannot see its own pictures anyway. */
function asText(part: Part): string {
  if (part.type === 'text') return part.text;
  return part.type === 'media' ? `![${part.alt ?? ''}](${part.url})` : part.name;
}

function toBucket({ bucketId, media }: FilePart): object {
  const url = `/files/${bucketId}${media === undefined ? '' : `/media/${media}`}`;
  return { bucket_id: bucketId, url, ...(media === undefined ? {} : { name: media }) };
}
