import type { Call } from '../core/call.ts';
import { toSluiceError } from '../core/errors.ts';
import type { Step } from '../core/stream.ts';
import type { SearchOptions, SearchResult, WebSearch } from '../search/search.ts';
import { webSearchStep } from './web-search.ts';

/** One search that a client asked for by calling the tool. */
export interface SearchCall {
  /** Absent: the first line of the user's last message. */
  readonly query?: string;
  readonly options: Omit<SearchOptions, 'signal'>;
}

/** Searches the web for all calls, and uses what was found together, as the web search of a request does. */
export function searchToolStep(search: WebSearch, calls: readonly SearchCall[]): Step {
  const queries = calls.flatMap(({ query }) => query ?? []);
  // One that has no words of its own needs those of the user.
  const webSearch = queries.length === calls.length ? queries.join(', ') : true;
  return {
    name: 'search-tool',
    enrich: (request, call) =>
      webSearchStep(
        {
          isOn: search.isOn,
          search: (question, options) => searchAll(search, calls, question, { ...options }, call),
        },
        'tool_calls',
      ).enrich({ ...request, webSearch }, call),
  };
}

/** What all of them found, each page once. Throws when every one failed. */
async function searchAll(
  search: WebSearch,
  calls: readonly SearchCall[],
  question: string,
  given: SearchOptions,
  call: Call,
): Promise<readonly SearchResult[]> {
  const settled = await Promise.allSettled(
    calls.map(({ query, options }) => search.search(query ?? question, { ...options, ...given })),
  );
  const failed = settled.filter((each) => each.status === 'rejected');
  if (failed.length === settled.length) throw failed[0]?.reason;
  for (const { reason } of failed) {
    call.log.warn({ id: call.id, error: toSluiceError(reason).message }, 'one of several web searches failed');
  }
  const found = settled.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  return [...new Map(found.map((result) => [result.url, result])).values()];
}
