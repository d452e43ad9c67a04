import { createHash, randomUUID } from 'node:crypto';
import { SluiceError } from '../../core/errors.ts';
import { isObject } from '../../core/objects.ts';
import type { MemoryFilters, MemoryItem } from '../../core/stores.ts';
import type { Deps, Handler } from '../deps.ts';
import { bodyValue, parseId } from '../edge/body.ts';
import { validate, validateQuery } from '../validate.ts';
import { MemoryBody, MemoryQuery } from './wire.ts';

/** `POST memory/<user_id>`: remembers what was said. */
export function postMemory(deps: Deps): Handler {
  return async (request) => {
    const userId = parseId((request.params as { id: string }).id, 'user_id');
    const body = validate(MemoryBody, bodyValue(request), 'invalid_request');
    const now = Date.now();
    // An empty id names no conversation, in which the same words would be the same statement.
    const conversationId = body.id || null;
    const idOf = conversationId === null ? () => randomUUID() : idsWithin(conversationId);
    const items = body.items.flatMap(({ role, content, metadata }): MemoryItem[] => {
      const text = textOf(content);
      if (text === '') return [];
      const item = {
        id: idOf(role, text),
        userId,
        role,
        text,
        conversationId,
        metadata: { ...(body.title ? { title: body.title } : {}), ...metadata },
        createdAt: now,
        updatedAt: now,
      };
      return [item];
    });
    await deps.stores.memory.add(items);
    return { count: items.length };
  };
}

/** Of a message in parts what can be read. */
function textOf(content: string | readonly { readonly text?: string | undefined }[] | null): string {
  if (content === null || typeof content === 'string') return content ?? '';
  return content.flatMap(({ text }) => text ?? []).join('\n');
}

/** Front ends send a conversation anew when it has grown: what was said in it has the same id each time. */
function idsWithin(conversation: string): (role: string, content: string) => string {
  const times = new Map<string, number>();
  return (role, content) => {
    const said = JSON.stringify([conversation, role, content]);
    const time = (times.get(said) ?? 0) + 1;
    times.set(said, time);
    return createHash('sha256').update(`${time} ${said}`).digest('hex').slice(0, 32);
  };
}

/** `GET memory/<user_id>`: the newest first, or ranked by a search. */
export function getMemory(deps: Deps): Handler {
  return async (request) => {
    const userId = parseId((request.params as { id: string }).id, 'user_id');
    const query = validateQuery(MemoryQuery, request.query, 'invalid_request');
    const { page, page_size: pageSize, search } = query;
    const { total, items } = await deps.stores.memory.find(userId, {
      ...(search === undefined || search.trim() === '' ? {} : { text: search }),
      filters: timesInMs(parseFilters(query.filters, 'filters')),
      metadata: parseFilters(query.metadata, 'metadata'),
      offset: (page - 1) * pageSize,
      limit: pageSize,
    });
    return {
      count: total,
      page,
      page_size: pageSize,
      next: page * pageSize < total ? page + 1 : null,
      previous: page > 1 ? page - 1 : null,
      results: items.map(toWire),
    };
  };
}

/** `DELETE memory/<user_id>` and `DELETE memory/<user_id>/<item>`: forgets all, or one statement. */
export function deleteMemory(deps: Deps): Handler {
  return async (request) => {
    const { id, item } = request.params as { id: string; item?: string };
    const userId = parseId(id, 'user_id');
    const count = await deps.stores.memory.delete(userId, item);
    if (item !== undefined && count === 0)
      throw new SluiceError('not_found', 'Not found: nothing is remembered under this id.');
    return { count };
  };
}

function toWire(item: MemoryItem & { readonly score?: number }): Record<string, unknown> {
  const { conversation_id: _, ...metadata } = item.metadata;
  return {
    id: item.id,
    memory: item.text,
    user_id: item.userId,
    role: item.role,
    conversation_id: item.conversationId,
    metadata: { conversation_id: item.conversationId, ...metadata },
    created_at: new Date(item.createdAt).toISOString(),
    updated_at: new Date(item.updatedAt).toISOString(),
    ...(item.score === undefined ? {} : { score: item.score }),
  };
}

function parseFilters(text: string | undefined, param: string): MemoryFilters {
  if (text === undefined || text === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new SluiceError('invalid_request', `'${param}' is not valid JSON.`, { param });
  }
  if (!isObject(value)) {
    throw new SluiceError('invalid_request', `'${param}' must be a JSON object.`, { param });
  }
  const entries = Object.entries(value);
  if (entries.some(([, each]) => typeof each === 'object' && each !== null)) {
    throw new SluiceError('invalid_request', `'${param}' compares with texts, numbers, true, false or null only.`, {
      param,
    });
  }
  return Object.fromEntries(entries) as MemoryFilters;
}

/** Times are ISO 8601 on the wire; what is none fits nothing. */
function timesInMs(filters: MemoryFilters): MemoryFilters {
  const times = ['created_at', 'updated_at'].flatMap((name) => {
    const value = filters[name];
    const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
    return Number.isNaN(ms) ? [] : [[name, ms] as const];
  });
  return { ...filters, ...Object.fromEntries(times) };
}
