import { SluiceError } from '../../core/errors.ts';
import type { Connection } from './connection.ts';

/** Bytes of one page of a listing. */
const LONGEST_PAGE = 4 * 1024 * 1024;
const MOST_PAGES = 20;

/** Reads a vendor's listing page by page. `next` gives the query of the following page, undefined after the last. */
export async function listPages<Page>(
  connection: Connection,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>>,
  first: string,
  parse: (json: unknown) => Page,
  next: (page: Page) => string | undefined,
): Promise<Page[]> {
  const pages: Page[] = [];
  let query: string | undefined = first;
  while (query !== undefined && pages.length < MOST_PAGES) {
    const address = `${connection.baseUrl}/models?${query}`;
    const response = await connection.fetch(address, { headers: { ...headers, ...connection.headers }, signal });
    const page = parse(JSON.parse(await textOf(response)));
    pages.push(page);
    query = next(page);
  }
  return pages;
}

async function textOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > LONGEST_PAGE) throw new SluiceError('upstream_invalid', 'The listing of models is too large.');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
