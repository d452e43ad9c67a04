import { randomBytes } from 'node:crypto';

/** An id for an answer. Where several processes serve, it begins with the four digits by which they know each other. */
export function responseId(tag = ''): string {
  return `resp_${tag}${randomBytes(24).toString('hex').slice(tag.length)}`;
}

/** An id for a conversation: 24 random bytes, in hex. */
export function conversationId(): string {
  return `conv_${randomBytes(24).toString('hex')}`;
}

/** The four digits in front of an id; those of a process only where several serve. */
export function tagOfResponse(id: string): string | undefined {
  return /^resp_([0-9a-f]{4})[0-9a-f]{44}$/.exec(id)?.[1];
}

/** The id of an item tells which answer it belongs to, so that a reference to it can be followed. */
export function itemId(prefix: string, response: string, index: number, place: 'input' | 'output' = 'output'): string {
  return `${prefix}_${response.slice('resp_'.length)}${place === 'input' ? 'i' : 'o'}${index}`;
}

const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  additional_tools: 'at',
  compaction: 'cmp',
};

/** What ids of items of a type begin with, before the `_`. */
export function prefixOfType(type: string): string {
  return (Object.hasOwn(PREFIXES, type) ? PREFIXES[type] : undefined) ?? 'item';
}

/** Whether it was we who gave an item its id that a client sent without one. */
export function isInputId(id: string): boolean {
  return /^[a-z]+_[0-9a-f]{48}i\d+$/.test(id);
}

/** The answer that an item of ours belongs to. Undefined for ids that others gave. */
export function responseOfItem(id: string): string | undefined {
  const hex = /^[a-z]+_([0-9a-f]{48})[io]\d+$/.exec(id)?.[1];
  return hex === undefined ? undefined : `resp_${hex}`;
}
