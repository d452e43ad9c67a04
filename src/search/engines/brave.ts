import { type Engine, rowsAt, textAt } from '../engine.ts';

/** Needs a key (api-dashboard.search.brave.com). */
export const brave: Engine = {
  label: 'Brave Search',
  request: (query, count, { url, apiKey = '' }) => ({
    address: `${url}/res/v1/web/search?${new URLSearchParams({
      q: query,
      count: String(Math.min(count, 20)),
      result_filter: 'web',
      text_decorations: 'false',
    })}`,
    headers: { 'x-subscription-token': apiKey },
  }),
  results: (answer) =>
    rowsAt(answer, 'web', 'results').map((row) => ({
      title: textAt(row, 'title'),
      url: textAt(row, 'url'),
      snippet: textAt(row, 'description'),
    })),
};
