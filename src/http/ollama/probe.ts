import type { PlainRoute } from '../deps.ts';
import { withVariant } from '../variant.ts';

/** How Ollama's own libraries and its command line call themselves. */
const OLLAMA_CLIENT = /^ollama\b/i;

/** The page in front of everything, except for Ollama's own clients: they ask there whether it runs. */
export function answeringProbes(route: PlainRoute): PlainRoute {
  if (route.url !== '/' || route.method !== 'GET') return route;
  return withVariant(route, {
    isFor: ({ headers }) => OLLAMA_CLIENT.test(headers['user-agent'] ?? ''),
    handler: async (_request, reply) =>
      reply.header('content-type', 'text/plain; charset=utf-8').send('Ollama is running'),
  });
}
