import { type Engine, rowsAt, textAt } from '../engine.ts';

/** Characters of a page's text to ask for: about what a result may have of a model's attention. */
const MOST_CHARACTERS = 6_000;

/** Needs a key; gives the pages' text right away (exa.ai/docs/reference/search). */
export const exa: Engine = {
  label: 'Exa',
  request: (query, count, { url, apiKey = '' }) => ({
    address: `${url}/search`,
    headers: { 'x-api-key': apiKey },
    json: { query, numResults: count, contents: { text: { maxCharacters: MOST_CHARACTERS } } },
  }),
  results: (answer) =>
    rowsAt(answer, 'results').map((row) => {
      const text = textAt(row, 'text');
      return {
        title: textAt(row, 'title'),
        url: textAt(row, 'url'),
        snippet: text.slice(0, 300),
        ...(text === '' ? {} : { text }),
      };
    }),
};
