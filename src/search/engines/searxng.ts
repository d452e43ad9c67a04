import { type Engine, rowsAt, textAt } from '../engine.ts';

/** A server of one's own; its operator has to allow the format `json` (docs.searxng.org, Search API). */
export const searxng: Engine = {
  label: 'SearXNG',
  request: (query, _count, { url }) => ({
    address: `${url}/search?${new URLSearchParams({ q: query, format: 'json' })}`,
  }),
  results: (answer) =>
    rowsAt(answer, 'results').map((row) => ({
      title: textAt(row, 'title'),
      url: textAt(row, 'url'),
      snippet: textAt(row, 'content'),
    })),
};
