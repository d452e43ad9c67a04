import { SluiceError } from '../../core/errors.ts';
import type { Handler } from '../deps.ts';
import { validate } from '../validate.ts';
import { sendJson } from './asking.ts';
import { shown } from './items.ts';
import { contextOf, notFound, type ResponseDeps, running, stored } from './store.ts';
import { ENCRYPTED, InputItemsQuery, included } from './wire.ts';

const USUAL_LIMIT = 20;

/** `GET responses/<id>/input_items`: all that the model got, page by page, what went before the request included. */
export function listInputItems(deps: ResponseDeps): Handler {
  return async (request, reply) => {
    const { id } = request.params as { id: string };
    const query = validate(InputItemsQuery, request.query, 'invalid_field');
    const kept = running(deps, id)?.kept ?? (await stored(deps, id));
    if (kept === undefined) throw notFound(id);
    const items = [...(await contextOf(deps, kept))];
    if (query.order !== 'asc') items.reverse();
    const { after, limit = USUAL_LIMIT } = query;
    const start = after === undefined ? 0 : items.findIndex(({ item }) => item['id'] === after) + 1;
    if (after !== undefined && start === 0) {
      throw new SluiceError('invalid_request', `There is no item '${after.slice(0, 100)}' in this answer's input.`, {
        param: 'after',
      });
    }
    const encrypted = included(query).has(ENCRYPTED);
    const data = items.slice(start, start + limit).map((item) => shown(item, encrypted));
    return sendJson(reply, {
      object: 'list',
      data,
      first_id: data[0]?.['id'] ?? null,
      last_id: data.at(-1)?.['id'] ?? null,
      has_more: start + limit < items.length,
    });
  };
}
