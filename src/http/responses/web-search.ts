import { lastUserText } from '../../core/chat-text.ts';
import type { Step } from '../../core/stream.ts';
import { webSearchStep } from '../../enrich/web-search.ts';
import type { WebSearch } from '../../search/search.ts';

/** What became of a search that the tool `web_search` stands for. */
export interface Searched {
  readonly query: string;
  /** Whether the model got anything of it. */
  readonly isUsed: boolean;
}

/** Searches for the user's last words before the model answers; the tool of OpenAI's own leaves that to the model. */
export function searching(search: WebSearch, note: (searched: Searched) => void): Step {
  const step = webSearchStep(search);
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
