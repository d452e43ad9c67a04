import type { Route } from '../deps.ts';

/** What Azure has below the name of a deployment. */
const OF_DEPLOYMENT: ReadonlySet<string> = new Set([
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
]);
/** What it has without one. */
const OF_ALL = /^\/v1\/(responses(\/|$)|files(\/|$)|models$)/;

/**
 * The same routes where clients of Azure's form of OpenAI's API look for them. A deployment is a model here, and wins over the one in
 * the body; any `api-version` will do. https://learn.microsoft.com/azure/ai-foundry/openai/reference, and `…/openai/latest` for
 * the paths with `v1`.
 */
export function azureRoutes(routes: readonly Route[]): readonly Route[] {
  return routes.flatMap((route) => {
    const at = (place: string): Route => ({ ...route, url: route.url.replace('/v1', place), summary: SUMMARY });
    if (OF_DEPLOYMENT.has(route.url)) return [at('/openai/deployments/:deployment'), at('/openai/v1')];
    return OF_ALL.test(route.url) ? [at('/openai'), at('/openai/v1')] : [];
  });
}

const SUMMARY = 'The same, where clients of Azure look for it';
