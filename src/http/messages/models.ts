import { z } from 'zod';
import { isChatModel, type Model } from '../../core/model.ts';
import { isReady } from '../../core/provider.ts';
import type { Deps, Handler } from '../deps.ts';
import { findModel, unknownModel } from '../find-model.ts';
import { validate } from '../validate.ts';
import type { Variant } from '../variant.ts';
import { messagesErrorBody } from './errors.ts';

/** Nobody else knows when a model came to be. */
const UNKNOWN_DATE = '1970-01-01T00:00:00Z';

const ListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1_000).optional(),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
});

/** A listing of models for clients of Anthropic's API, known by the header that all of them send. */
export function forAnthropicClients(handler: Handler): Variant {
  return { isFor: ({ headers }) => headers['anthropic-version'] !== undefined, errorBody: messagesErrorBody, handler };
}

/** `GET /v1/models` as Anthropic lists them (https://platform.claude.com/docs/en/api/models/list): aliases first, then every model that chats. */
export function listModelInfos(deps: Deps): Handler {
  return async (request) => {
    const { limit, after_id: after, before_id: before } = validate(ListQuery, request.query, 'invalid_request');
    const all = await modelInfos(deps);
    const at = (id: string): number => all.findIndex((each) => each.id === id);
    const start = after === undefined ? 0 : at(after) + 1;
    const end = before === undefined || at(before) === -1 ? all.length : at(before);
    const most = limit ?? all.length;
    // Backwards, a page ends before the given one.
    const from = before === undefined ? start : Math.max(start, end - most);
    const data = all.slice(from, Math.min(end, from + most));
    return {
      data,
      has_more: before === undefined ? from + data.length < end : from > start,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    };
  };
}

/** `GET /v1/models/<id>` in the same form, by every name that a chat may use. */
export function getModelInfo(deps: Deps): Handler {
  return async (request) => {
    const id = (request.params as { '*': string })['*'];
    if (deps.config().aliases.has(id)) return toInfo({ id });
    const found = await findModel(deps, id);
    if (found !== undefined && isChatModel(found.model)) return toInfo(found.model);
    throw unknownModel(id);
  };
}

interface ModelInfo {
  readonly id: string;
  readonly [field: string]: unknown;
}

async function modelInfos({ config, router }: Deps): Promise<readonly ModelInfo[]> {
  const infos = new Map<string, ModelInfo>();
  for (const name of config().aliases.keys()) infos.set(name, toInfo({ id: name }));
  for (const { provider, models } of await router.catalog.list()) {
    if (!isReady(provider)) continue;
    for (const model of models.filter(isChatModel)) if (!infos.has(model.id)) infos.set(model.id, toInfo(model));
  }
  return [...infos.values()];
}

function toInfo({ id, label, contextLength, vision, reasoning }: Model): ModelInfo {
  const isKnown = vision !== undefined || reasoning !== undefined;
  return {
    type: 'model',
    id,
    display_name: label ?? id,
    created_at: UNKNOWN_DATE,
    max_input_tokens: contextLength ?? null,
    max_tokens: null,
    capabilities: isKnown
      ? { image_input: { supported: vision ?? false }, thinking: { supported: reasoning ?? false } }
      : null,
  };
}
