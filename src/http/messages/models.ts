import { z } from 'zod';
import { isChatModel, type Model } from '../../core/model.ts';
import { isObject, membersOf } from '../../core/objects.ts';
import { isReady } from '../../core/provider.ts';
import type { Deps, Handler } from '../deps.ts';
import { isAnthropicClient } from '../edge/guard.ts';
import { type Found, findModel, unknownModel } from '../find-model.ts';
import { validateQuery } from '../validate.ts';
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
  return { isFor: ({ headers }) => isAnthropicClient(headers), errorBody: messagesErrorBody, handler };
}

/** `GET /v1/models` as Anthropic lists them (https://platform.claude.com/docs/en/api/models/list): aliases first, then every model that chats. */
export function listModelInfos(deps: Deps): Handler {
  return async (request) => {
    const { limit, after_id: after, before_id: before } = validateQuery(ListQuery, request.query, 'invalid_request');
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
    const found = await findModel(deps, id);
    if (deps.config().aliases.has(id)) return aliasInfo(id, found);
    if (found !== undefined && isChatModel(found.model)) return toInfo(found.model);
    throw unknownModel(id);
  };
}

interface ModelInfo {
  readonly id: string;
  readonly [field: string]: unknown;
}

async function modelInfos(deps: Deps): Promise<readonly ModelInfo[]> {
  const { config, router } = deps;
  const infos = new Map<string, ModelInfo>();
  for (const name of config().aliases.keys()) infos.set(name, aliasInfo(name, await findModel(deps, name)));
  for (const { provider, models } of await router.catalog.list()) {
    if (!isReady(provider)) continue;
    for (const model of models.filter(isChatModel)) if (!infos.has(model.id)) infos.set(model.id, toInfo(model));
  }
  return [...infos.values()];
}

/** Of an alias is known what is known of its first model. */
function aliasInfo(id: string, found: Found | undefined): ModelInfo {
  return toInfo({ ...found?.model, id, label: id });
}

function toInfo({ vendor, ...model }: Model): ModelInfo {
  const { id, label, contextLength, longestAnswer } = model;
  const { capabilities, ...said } = membersOf(vendor?.['anthropic']);
  const own = capabilitiesOf(model);
  return {
    type: 'model',
    id,
    display_name: label ?? id,
    created_at: UNKNOWN_DATE,
    deprecated_at: null,
    lifecycle: 'active',
    line: null,
    retires_at: null,
    ...said,
    max_input_tokens: contextLength ?? null,
    max_tokens: longestAnswer ?? null,
    capabilities: own === null ? null : { ...merged(own, membersOf(capabilities)), batch: NO },
  };
}

/** The words of a vendor on each capability over ours. */
function merged(own: Capabilities, said: Readonly<Record<string, unknown>>): Capabilities {
  const names = new Set([...Object.keys(own), ...Object.keys(said)]);
  const all = Object.fromEntries([...names].map((name) => [name, { ...own[name], ...membersOf(said[name]) }]));
  return { ...all, thinking: { ...all['thinking'], types: allTypes(own, said) } };
}

/** A vendor that names some ways to think means that there is no other one. */
function allTypes(own: Capabilities, said: Readonly<Record<string, unknown>>): unknown {
  const types = membersOf(own['thinking']?.['types']);
  const named = membersOf(said['thinking'])['types'];
  if (!isObject(named)) return types;
  return { ...Object.fromEntries(Object.keys(types).map((name) => [name, NO])), ...named };
}

type Capabilities = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const NO = { supported: false };

/** All that clients may look for, since their types say it is there. What is not known of a model, it cannot do. */
function capabilitiesOf({ vision, reasoning }: Model): Capabilities | null {
  if (vision === undefined && reasoning === undefined) return null;
  const thinks = { supported: reasoning ?? false };
  return {
    batch: NO,
    citations: NO,
    code_execution: NO,
    context_management: {
      ...NO,
      clear_thinking_20251015: null,
      clear_tool_uses_20250919: null,
      compact_20260112: null,
    },
    effort: { ...thinks, low: thinks, medium: thinks, high: thinks, xhigh: null, max: NO },
    image_input: { supported: vision ?? false },
    pdf_input: NO,
    server_tools: { ...NO, code_execution: NO, web_search: NO },
    structured_outputs: NO,
    thinking: {
      ...thinks,
      types: { enabled: thinks, adaptive: thinks, disabled: { supported: true }, between_tools: NO },
    },
  };
}
