import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { editObject } from '../core/json.ts';
import type { Asked } from '../routing/router.ts';
import type { JsonBody } from './edge/json-body.ts';
import { clientKeys } from './keys.ts';
import { CallFields, DROPPED_FIELDS, Name, RoutingFields } from './wire.ts';
import { wishOf } from './wish.ts';

/** What every request for something else than a chat may say about where and how it is done; no upstream sees it. */
export const TaskFields = {
  model: Name.nullish().describe("A model, an alias, a provider's name, `provider/model` or `provider:model`"),
  models: RoutingFields.models,
  provider: RoutingFields.provider,
  ignored: RoutingFields.ignored,
  api_key: RoutingFields.api_key,
  ...CallFields,
};

const Fields = z.looseObject(TaskFields);
type TaskFields = z.infer<typeof Fields>;

/** Where a request shall go: what its path names wins over its body. */
export function askedOf(request: FastifyRequest, body: TaskFields): Asked {
  return {
    wish: wishOf(body, request),
    keys: clientKeys(request, body.api_key),
    dropped: DROPPED_FIELDS.filter((name) => Object.hasOwn(body, name)),
  };
}

/** What a request says about its call. */
export function callOf(body: TaskFields): Pick<TaskFields, 'timeout' | 'strict'> & { readonly user?: unknown } {
  const { timeout, strict } = body;
  return { timeout, strict, user: body['user'] };
}

/** The fields that a provider gets beside those that are known: never where to go or who asks (S-5). */
export function furtherFields(
  body: Readonly<Record<string, unknown>>,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  const own = new Set([...known, ...Object.keys(TaskFields), ...DROPPED_FIELDS]);
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => !own.has(name) && value !== null));
}

/** Members of a body that no upstream sees. */
const OWN = [...Object.keys(TaskFields), ...DROPPED_FIELDS];

/** The body as the client sent it, without what is ours, and with the provider's own name for the model. */
export function bodyFor(json: JsonBody, model: string): Buffer {
  const edits = new Map<string, string | undefined>(OWN.map((name) => [name, undefined]));
  const isSame = json.value['model'] === model;
  if (isSame) edits.delete('model');
  else if (model !== '') edits.set('model', JSON.stringify(model));
  return editObject(json.bytes, json.members, edits);
}
