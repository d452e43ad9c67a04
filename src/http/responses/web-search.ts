import { lastUserText } from '../../core/chat-text.ts';
import type { Searched } from '../../core/chunk.ts';
import type { Step } from '../../core/stream.ts';
import { webSearchStep } from '../../enrich/web-search.ts';
import type { WebSearch } from '../../search/search.ts';

/** What a search that is not made is called. */
export const LOST_SEARCH = 'tools.web_search';

/** Searches for the user's last words before the model answers. */
export function searching(search: WebSearch, note: (searched: Searched) => void): Step {
  const step = webSearchStep(search, LOST_SEARCH);
  return {
    name: 'web-search-tool',
    async enrich(request, call) {
      const [query = ''] = lastUserText(request.messages).split('\n');
      const enriched = await step.enrich({ ...request, webSearch: true }, call);
      const { webSearch: _, ...rest } = enriched.request;
      note({ query: query.trim(), isUsed: rest.messages !== request.messages });
      return { ...enriched, request: rest };
    },
  };
}

/** The same search, which takes what the engine says of the pages and fetches none. */
export function withoutPages(search: WebSearch): WebSearch {
  return { isOn: search.isOn, search: (query, options) => search.search(query, { ...options, pages: 0 }) };
}
