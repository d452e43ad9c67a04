import { z } from 'zod';
import type { Observer } from '../../observe/observer.ts';
import type { Deps, Route } from '../deps.ts';
import { health, ready } from './health.ts';
import { metrics } from './metrics.ts';
import { deleteRequests, getRequest, listRequests } from './requests.ts';
import { CountAnswer, HealthAnswer, ReadyAnswer, RequestPage, RequestsQuery, WholeRequest } from './wire.ts';

export interface ObserveDeps {
  readonly observer: Observer;
}

const TAG = 'Seeing it run';
const REQUESTS = '/backend-api/v2/requests';
/** Asked by whoever starts and watches processes, who has no key and has to be answered in every state. */
const OPEN: ReadonlySet<string | undefined> = new Set(['/health', '/ready']);

/** Whether a route is for everybody, and served until the very end. */
export function isOpen(route: string | undefined): boolean {
  return OPEN.has(route);
}

/** How one sees what runs here. */
export function observeRoutes(deps: Deps & ObserveDeps): readonly Route[] {
  return [
    {
      method: 'GET',
      url: '/health',
      summary: 'Whether the process answers',
      tag: TAG,
      answer: HealthAnswer,
      handler: health(),
    },
    {
      method: 'GET',
      url: '/ready',
      summary: 'Whether requests should be sent here; 503 with the reason while they should not',
      tag: TAG,
      answer: ReadyAnswer,
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
    {
      method: 'GET',
      url: REQUESTS,
      summary: 'The newest requests to models, and how they went',
      tag: TAG,
      query: RequestsQuery,
      answer: RequestPage,
      handler: listRequests(deps),
    },
    {
      method: 'GET',
      url: `${REQUESTS}/:id`,
      summary: 'One request, with all that is kept of it',
      tag: TAG,
      answer: WholeRequest,
      handler: getRequest(deps),
    },
    {
      method: 'DELETE',
      url: REQUESTS,
      summary: 'Forget the requests',
      tag: TAG,
      answer: CountAnswer,
      handler: deleteRequests(deps),
    },
  ];
}
