import type { Chunk } from '../core/chunk.ts';
import { contentParts } from '../providers/openai/decode.ts';
import type { ToolCalls } from '../providers/openai/tool-calls.ts';

type Json = Record<string, unknown>;

/** Client libraries stumble over these when they are null; absent is what they expect. */
const NEVER_NULL = ['tool_calls', 'audio', 'reasoning'];

/** Makes a message or a delta of an upstream what clients expect. Returns whether anything had to be changed. */
export function mendMessage(message: Json, calls: ToolCalls): boolean {
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
  if (typeof message['reasoning_content'] === 'string' && message['reasoning'] === undefined) {
    message['reasoning'] = message['reasoning_content'];
    changed = true;
  }
  if (Array.isArray(message['tool_calls'])) changed = mendToolCalls(message, message['tool_calls'], calls) || changed;
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

function mendToolCalls(message: Json, entries: readonly unknown[], calls: ToolCalls): boolean {
  const pieces = calls.read(entries);
  const isIntact =
    pieces.length === entries.length &&
    pieces.every(({ index, id, name, arguments: written }, at) => {
      const entry = entries[at] as { index?: unknown; id?: unknown; type?: unknown; function?: Json };
      if (entry.function?.['arguments'] !== written || (entry.index ?? index) !== index) return false;
      return (id === undefined && name === undefined) || (entry.id === id && entry.type === 'function');
    });
  if (isIntact) return false;
  message['tool_calls'] = pieces.map(({ index, id, name, arguments: written }) => ({
    index,
    ...(id === undefined ? {} : { id, type: 'function' }),
    function: { ...(name === undefined ? {} : { name }), arguments: written },
  }));
  return true;
}
