import type { Route } from '../deps.ts';

/** What Google has for clients of OpenAI's library. */
const OF_GOOGLE = /^\/v1\/(chat\/completions|embeddings|images\/generations|models(\/\*)?)$/;

/**
 * The same routes where Google has them beside its own API, for clients that know this address of Gemini's only by its host.
 * https://ai.google.dev/gemini-api/docs/openai
 */
export function googleRoutes(routes: readonly Route[]): readonly Route[] {
  return routes
    .filter(({ url }) => OF_GOOGLE.test(url))
    .map((route) => ({ ...route, url: route.url.replace('/v1', '/v1beta/openai'), summary: SUMMARY }));
}

const SUMMARY = 'The same, where Google has it for clients of OpenAI’s library';
