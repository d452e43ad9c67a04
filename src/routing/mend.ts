import type { Chunk, ToolCallDelta } from '../core/chunk.ts';
import { isObject, membersOf } from '../core/objects.ts';
import { contentParts } from '../providers/openai/decode.ts';
import type { ToolCalls } from '../providers/openai/tool-calls.ts';

type Json = Record<string, unknown>;

/** Client libraries stumble over these when they are null; absent is what they expect. */
const NEVER_NULL = ['tool_calls', 'audio', 'reasoning'];
const THOUGHTS = [
  ['reasoning_content', 'reasoning'],
  ['reasoning', 'reasoning_content'],
] as const;

/** Makes a message of an upstream's whole answer what clients expect. Returns whether anything had to be changed. */
export function mendMessage(message: Json, calls: ToolCalls): boolean {
  return mend(message, calls, false);
}

/** The same for a delta: pieces of tool calls need their place, and what is no text has an empty one in it. */
export function mendDelta(delta: Json, calls: ToolCalls): boolean {
  const changed = mend(delta, calls, true);
  const { content } = delta;
  if (typeof content === 'string' || (content === null && !isVisibleMessage(delta))) return changed;
  delta['content'] = '';
  return true;
}

function mend(message: Json, calls: ToolCalls, isDelta: boolean): boolean {
  let changed = false;
  for (const name of NEVER_NULL) {
    if (message[name] !== null) continue;
    delete message[name];
    changed = true;
  }
  if (Array.isArray(message['content'])) {
    takeParts(message, message['content']);
    changed = true;
  }
  // Two names for one thing: clients of either kind find theirs.
  for (const [name, other] of THOUGHTS) {
    const text = message[name];
    if (typeof text !== 'string' || text === '' || message[other] != null) continue;
    message[other] = text;
    changed = true;
  }
  const { tool_calls: entries } = message;
  if (Array.isArray(entries)) changed = mendToolCalls(message, entries, calls, isDelta) || changed;
  return changed;
}

/** Whether a message or a delta has something that a client can see. */
export function isVisibleMessage(message: Json): boolean {
  for (const name of ['content', 'reasoning', 'refusal']) {
    if (typeof message[name] === 'string' && message[name] !== '') return true;
  }
  return ['tool_calls', 'function_call', 'audio', 'images'].some((name) => {
    const value = message[name];
    return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
  });
}

/** Content in parts, as Mistral's reasoning models give it: dialect B promises a text. */
function takeParts(message: Json, parts: readonly unknown[]): void {
  const chunks: Chunk[] = [];
  contentParts(parts, chunks);
  message['content'] = chunks.map((chunk) => (chunk.type === 'content' ? chunk.content : '')).join('');
  const reasoning = chunks.map((chunk) => (chunk.type === 'reasoning' ? chunk.reasoning : '')).join('');
  if (reasoning !== '') message['reasoning'] = reasoning;
}

function mendToolCalls(message: Json, entries: readonly unknown[], calls: ToolCalls, isDelta: boolean): boolean {
  const pieces = calls.read(entries);
  const objects = entries.filter(isObject);
  let changed = objects.length !== entries.length;
  const mended = objects.map((entry, at) => {
    const piece = pieces[at];
    if (piece === undefined || isIntact(entry, piece, isDelta)) return entry;
    changed = true;
    return mendedCall(entry, piece, isDelta);
  });
  if (changed) message['tool_calls'] = mended;
  return changed;
}

/** Whether a client can use a call, or a piece of one, as it is. Freeform calls (OpenAI's `custom`) are, but for their place. */
function isIntact(entry: Json, { index, id, name, arguments: written }: ToolCallDelta, isDelta: boolean): boolean {
  if (isDelta ? entry['index'] !== index : (entry['index'] ?? index) !== index) return false;
  if (isFreeform(entry)) return id === undefined || entry['id'] === id;
  if (membersOf(entry['function'])['arguments'] !== written) return false;
  return (id === undefined && name === undefined) || (entry['id'] === id && entry['type'] === 'function');
}

/** The same with what was missing; whatever else the upstream says of it (signatures, for one) stays. */
function mendedCall(entry: Json, { index, id, name, arguments: written }: ToolCallDelta, isDelta: boolean): Json {
  const placed = isDelta || entry['index'] !== undefined ? { ...entry, index } : { ...entry };
  if (isFreeform(entry)) return id === undefined ? placed : { ...placed, id, type: 'custom' };
  return {
    ...placed,
    ...(id === undefined ? {} : { id, type: 'function' }),
    function: {
      ...membersOf(entry['function']),
      ...(name === undefined ? {} : { name }),
      arguments: written,
    },
  };
}

function isFreeform({ type, custom }: Json): boolean {
  return type === 'custom' || isObject(custom);
}
