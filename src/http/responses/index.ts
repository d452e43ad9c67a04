import type { Deps, Route } from '../deps.ts';

/** OpenAI's Responses API. */
export function responsesRoutes(_deps: Deps): readonly Route[] {
  return [];
}
