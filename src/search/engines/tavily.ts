import { type Engine, rowsAt, textAt } from '../engine.ts';

/** With a key, or without one at a limited rate (docs.tavily.com). */
export const tavily: Engine = {
  label: 'Tavily',
  request: (query, count, { url, apiKey }) => ({
    address: `${url}/search`,
    headers: apiKey === undefined ? { 'x-tavily-access-mode': 'keyless' } : { authorization: `Bearer ${apiKey}` },
    json: { query, max_results: Math.min(count, 20), search_depth: 'basic' },
  }),
  results: (answer) =>
    rowsAt(answer, 'results').map((row) => ({
      title: textAt(row, 'title'),
      url: textAt(row, 'url'),
      snippet: textAt(row, 'content'),
    })),
};
