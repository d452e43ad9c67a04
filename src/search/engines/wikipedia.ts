import { addressPart } from '../../core/address-part.ts';
import { type Engine, rowsAt, textAt } from '../engine.ts';

/** Asks for no key (mediawiki.org, API:REST_API/Reference#Search_pages). */
export const wikipedia: Engine = {
  label: 'Wikipedia',
  request: (query, count, { url }) => ({
    address: `${url}/w/rest.php/v1/search/page?${new URLSearchParams({ q: query, limit: String(Math.min(count, 100)) })}`,
  }),
  results: (answer, { url }) =>
    rowsAt(answer, 'pages').map((row) => ({
      title: textAt(row, 'title'),
      url: `${url}/wiki/${addressPart(textAt(row, 'key'))}`,
      snippet: [textAt(row, 'description'), textAt(row, 'excerpt')].filter((text) => text !== '').join('. '),
    })),
};
