import { createHash } from 'node:crypto';
import type { Service } from './services.ts';

/** A message in OpenAI's wire format, as far as it is looked at here. */
interface WireMessage {
  readonly role: string;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
}

/** A message as its service takes it: the same object where there is nothing to change. */
export function takenMessage<T extends WireMessage>(message: T, { knowsDeveloper, hasShortIds }: Service): T {
  if (message.role === 'developer' && knowsDeveloper !== true) return { ...message, role: 'system' };
  return hasShortIds === true ? withShortIds(message) : message;
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
