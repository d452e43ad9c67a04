import { SluiceError } from '../../core/errors.ts';
import type { Handler } from '../deps.ts';
import { validateQuery } from '../validate.ts';
import { sendJson } from './asking.ts';
import { contextOf } from './history.ts';
import { listOf, USUAL_LIMIT } from './items.ts';
import { notFound, type ResponseDeps, running, stored } from './store.ts';
import { ENCRYPTED, ItemsQuery, included } from './wire.ts';

/** `GET responses/<id>/input_items`: all that the model got, page by page, what went before the request included. */
export function listInputItems(deps: ResponseDeps): Handler {
  return async (request, reply) => {
    const { id } = request.params as { id: string };
    const query = validateQuery(ItemsQuery, request.query, 'invalid_field');
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
    const page = items.slice(start, start + limit);
    return sendJson(reply, listOf(page, { encrypted, hasMore: start + limit < items.length }));
  };
}
