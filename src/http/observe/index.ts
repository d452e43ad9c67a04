import { z } from 'zod';
import type { Deps, Route } from '../deps.ts';
import { health, ready } from './health.ts';
import { metrics } from './metrics.ts';
import { deleteRequests, getRequest, listRequests } from './requests.ts';
import { CountAnswer, HealthAnswer, ReadyAnswer, RequestPage, RequestsQuery, WholeRequest } from './wire.ts';

const TAG = 'Seeing it run';
const REQUESTS = '/backend-api/v2/requests';
/** Where other gateways have it. */
const LOGS = '/api/logs';

/** How one sees what runs here. */
export function observeRoutes(deps: Deps): readonly Route[] {
  const list = {
    method: 'GET',
    tag: TAG,
    query: RequestsQuery,
    answer: RequestPage,
    handler: listRequests(deps),
  } as const;
  const forget = { method: 'DELETE', tag: TAG, answer: CountAnswer, handler: deleteRequests(deps) } as const;
  return [
    {
      method: 'GET',
      url: '/health',
      summary: 'Whether the process answers',
      tag: TAG,
      answer: HealthAnswer,
      isOpen: true,
      handler: health(),
    },
    {
      method: 'GET',
      url: '/ready',
      summary: 'Whether requests should be sent here; 503 with the reason while they should not',
      tag: TAG,
      answer: ReadyAnswer,
      statuses: [200, 503],
      isOpen: true,
      handler: ready(deps),
    },
    {
      method: 'GET',
      url: '/metrics',
      summary: 'Counters for Prometheus',
      tag: TAG,
      answer: z.string(),
      produces: ['text/plain'],
      handler: metrics(deps),
    },
    { ...list, url: REQUESTS, summary: 'The newest requests to models, and how they went' },
    { ...list, url: LOGS, summary: 'The same' },
    {
      method: 'GET',
      url: `${REQUESTS}/:id`,
      summary: 'One request, with all that is kept of it',
      tag: TAG,
      answer: WholeRequest,
      handler: getRequest(deps),
    },
    { ...forget, url: REQUESTS, summary: 'Forget the requests' },
    { ...forget, url: LOGS, summary: 'The same' },
  ];
}
