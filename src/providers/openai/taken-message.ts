import { createHash } from 'node:crypto';
import { isObject } from '../../core/objects.ts';
import { MESSAGE_EXTRAS, type MessageExtra, type Service } from './services.ts';

/** A message in OpenAI's wire format, as far as it is looked at here. */
interface WireMessage extends Readonly<Partial<Record<MessageExtra, unknown>>> {
  readonly role: string;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
}

/** A message as its service takes it: the same object where there is nothing to change. `drop` hears of what is lost. */
export function takenMessage<T extends WireMessage>(message: T, service: Service, drop: (field: string) => void): T {
  const { knowsDeveloper, hasShortIds } = service;
  if (message.role === 'developer' && knowsDeveloper !== true) return { ...message, role: 'system' };
  const answer =
    message.role === 'assistant'
      ? withWantedThoughts(withTakenExtras(withTakenCalls(message, service), service, drop), service)
      : message;
  return hasShortIds === true ? withShortIds(answer) : answer;
}

/**
 * An answer that a client hands back, without what the service refuses of it. Answers have thoughts under both names, and clients hand
 * back both or either: whoever does not refuse it gets the one that DeepSeek insists on
 * (https://api-docs.deepseek.com/guides/thinking_mode#tool-calls).
 */
function withTakenExtras<T extends WireMessage>(message: T, { refuses }: Service, drop: (field: string) => void): T {
  const { reasoning, reasoning_content: content } = message;
  const isMissing =
    typeof reasoning === 'string' && reasoning !== '' && content == null && refuses?.has('reasoning_content') !== true;
  const refused = refuses === undefined ? [] : MESSAGE_EXTRAS.filter((name) => name in message && refuses.has(name));
  if (!isMissing && refused.length === 0) return message;
  const taken = isMissing ? { ...message, reasoning_content: reasoning } : { ...message };
  for (const name of refused) delete taken[name];
  if (hasThoughts(message) && !hasThoughts(taken)) drop('reasoning');
  for (const name of refused) if (!THOUGHTS.has(name) && isSaid(message[name])) drop(name);
  return taken;
}

/**
 * Many clients lose the thoughts of an answer, or never saw them. Where these are wanted all the same, a blank does: DeepSeek takes it, but
 * not an empty text.
 */
function withWantedThoughts<T extends WireMessage>(message: T, { wantsThoughts }: Service): T {
  return wantsThoughts !== true || hasThoughts(message) ? message : { ...message, reasoning_content: ' ' };
}

/** Whoever refuses the signature of a call did not give it, and could not read it. */
function withTakenCalls<T extends WireMessage>(message: T, { refuses }: Service): T {
  const { tool_calls: calls } = message;
  if (refuses?.has('extra_content') !== true || !Array.isArray(calls)) return message;
  if (!calls.some((call) => isObject(call) && 'extra_content' in call)) return message;
  const taken = calls.map((call) => {
    if (!isObject(call)) return call;
    const { extra_content: _, ...rest } = call;
    return rest;
  });
  return { ...message, tool_calls: taken };
}

const THOUGHTS: ReadonlySet<MessageExtra> = new Set(['reasoning', 'reasoning_content']);

function hasThoughts({ reasoning, reasoning_content: content }: WireMessage): boolean {
  return isSaid(reasoning) || isSaid(content);
}

/** Answers also have these members where there is nothing to say. */
function isSaid(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value != null && value !== '';
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
