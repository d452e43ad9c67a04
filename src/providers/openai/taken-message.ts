import { createHash } from 'node:crypto';
import type { Service, ThoughtsField } from './services.ts';

/** A message in OpenAI's wire format, as far as it is looked at here. */
interface WireMessage {
  readonly role: string;
  readonly reasoning?: unknown;
  readonly reasoning_content?: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
}

/** A message as its service takes it: the same object where there is nothing to change. `drop` hears of thoughts that are lost. */
export function takenMessage<T extends WireMessage>(message: T, service: Service, drop: (field: string) => void): T {
  const { knowsDeveloper, hasShortIds } = service;
  if (message.role === 'developer' && knowsDeveloper !== true) return { ...message, role: 'system' };
  const thought = message.role === 'assistant' ? withTakenThoughts(message, service, drop) : message;
  return hasShortIds === true ? withShortIds(thought) : thought;
}

/**
 * Answers have thoughts under both names, and clients hand back both or either. Who refuses a name does not get it; all others get
 * the one that DeepSeek insists on (https://api-docs.deepseek.com/guides/thinking_mode#tool-calls).
 */
function withTakenThoughts<T extends WireMessage>(message: T, { refuses }: Service, drop: (field: string) => void): T {
  const { reasoning, reasoning_content: content } = message;
  if (reasoning === undefined && content === undefined) return message;
  if (refuses?.has('reasoning_content') !== true) {
    return isText(reasoning) && content == null ? { ...message, reasoning_content: reasoning } : message;
  }
  const refused = THOUGHTS.filter((name) => refuses.has(name) && message[name] !== undefined);
  if (refused.length === 0) return message;
  const taken = { ...message };
  for (const name of refused) delete taken[name];
  if (!isText(taken.reasoning) && (isText(reasoning) || isText(content))) drop('reasoning');
  return taken;
}

const THOUGHTS: readonly ThoughtsField[] = ['reasoning', 'reasoning_content'];

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function withShortIds<T extends WireMessage>(message: T): T {
  const { tool_calls: calls, tool_call_id: id } = message;
  if (isLong(id)) return { ...message, tool_call_id: short(id) };
  if (!Array.isArray(calls) || !calls.some((call) => isLong(call?.id))) return message;
  return { ...message, tool_calls: calls.map((call) => (isLong(call?.id) ? { ...call, id: short(call.id) } : call)) };
}

function isLong(id: unknown): id is string {
  return typeof id === 'string' && !/^[A-Za-z0-9]{9}$/.test(id);
}

/** The same for the same id, so that a result finds its call. */
function short(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}
